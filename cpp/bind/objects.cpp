// Kernels of objects for Python: what all of them share.
#include "bind/objects.hpp"

#include <vector>

#include "engine/sparse.hpp"
#include "objects/counts.hpp"
#include "objects/pair_job.hpp"

namespace {

std::vector<std::int64_t> places(const Column<std::int64_t>& given) {
    return {given.data(), given.data() + given.shape(0)};
}

mercer::CountRows count_rows(const Column<std::int64_t>& ends, const Column<std::int32_t>& columns,
                             const Column<double>& values) {
    require(ends.shape(0) > 0 && columns.shape(0) == values.shape(0) &&
                ends.data()[ends.shape(0) - 1] == static_cast<std::int64_t>(columns.shape(0)),
            "add_meetings: ends, columns and values must fit.");
    return {ends.data(), columns.data(), values.data(),
            static_cast<std::int64_t>(ends.shape(0)) - 1};
}

void bind_counts(nb::module_& m) {
    using Ids = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Kept = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Places = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto tokens = [](const Column<std::int64_t>& ends, std::size_t total) {
        require(ends.shape(0) > 0, "tokens: there must be one more end than objects.");
        return mercer::Tokens{ends.data(), static_cast<std::int64_t>(ends.shape(0)) - 1,
                              static_cast<std::int64_t>(total)};
    };
    m.def(
        "merge_tokens",
        [tokens](const Column<std::int64_t>& ends, const Ids& ids, const Numbers& values,
                 const Kept& kept, const std::optional<Stop>& stop) {
            require(ids.shape(0) == values.shape(0) && kept.shape(0) + 1 == ends.shape(0),
                    "merge_tokens: ends, ids, values and kept must fit.");
            const auto given = tokens(ends, ids.shape(0));
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::merge_tokens(given, ids.data(), values.data(), kept.data(), poll);
            });
        },
        "ends"_a.noconvert(), "ids"_a.noconvert(), "values"_a.noconvert(), "kept"_a.noconvert(),
        "stop"_a.none(), "Put equal ids of each object together, in place; False if stopped.");
    m.def(
        "pack_tokens",
        [tokens](const Column<std::int64_t>& ends, const Column<std::int64_t>& kept,
                 const Column<std::uint64_t>& ids, const Column<double>& values,
                 const Ids& packed_ids, const Numbers& packed_values) {
            const auto given = tokens(ends, ids.shape(0));
            require(static_cast<std::int64_t>(kept.shape(0)) == given.objects &&
                        ids.shape(0) == values.shape(0) &&
                        packed_ids.shape(0) == packed_values.shape(0),
                    "pack_tokens: ends, kept, ids and values must fit.");
            std::int64_t total = 0;
            for (std::int64_t i = 0; i < given.objects; ++i) {
                const std::int64_t count = kept.data()[i];
                require(0 <= count && 0 <= given.ends[i] && count <= given.total &&
                            given.ends[i] <= given.total - count,
                        "pack_tokens: what is kept must be there.");
                total += count;
            }
            require(total == static_cast<std::int64_t>(packed_ids.shape(0)),
                    "pack_tokens: there must be room for what is kept.");
            mercer::pack_tokens(given, kept.data(), ids.data(), values.data(), packed_ids.data(),
                                packed_values.data());
        },
        "ends"_a.noconvert(), "kept"_a.noconvert(), "ids"_a.noconvert(), "values"_a.noconvert(),
        "packed_ids"_a.noconvert(), "packed_values"_a.noconvert(),
        "Copy the first `kept` tokens of every object to one place after another.");
    m.def(
        "look_up",
        [](const Column<std::uint64_t>& vocabulary, const Column<std::uint64_t>& ids,
           const Places& columns, const std::optional<Stop>& stop) {
            require(ids.shape(0) == columns.shape(0), "look_up: there must be room for each id.");
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::look_up(
                    vocabulary.data(), static_cast<std::int64_t>(vocabulary.shape(0)), ids.data(),
                    static_cast<std::int64_t>(ids.shape(0)), columns.data(), poll);
            });
        },
        "vocabulary"_a.noconvert(), "ids"_a.noconvert(), "columns"_a.noconvert(), "stop"_a.none(),
        "The place of each id in the vocabulary, or -1; False if stopped.");
}

}  // namespace

void bind_objects(nb::module_& m) {
    using mercer::PairJob;
    using Values = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    nb::class_<PairJob>(m, "PairJob", "A kernel of two collections of objects, pair by pair.")
        .def_prop_ro("lefts", &PairJob::lefts)
        .def_prop_ro("rights", &PairJob::rights)
        .def(
            "store",
            [](const PairJob& self, const Column<std::int64_t>& rows,
               const Column<std::int64_t>& columns, bool same, std::int64_t first,
               std::int64_t last, const Output<double>& out, const std::optional<Stop>& stop) {
                require(out.shape(0) == rows.shape(0) && out.shape(1) == columns.shape(0),
                        "store: out must have a row for each of rows, a column for each column.");
                require(
                    0 <= first && first <= last && last <= static_cast<std::int64_t>(rows.shape(0)),
                    "store: first and last must be among the rows.");
                require(!same || rows.shape(0) == columns.shape(0),
                        "store: the same objects must be rows and columns.");
                const auto r = places(rows), c = places(columns);
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.store(r, c, same, first, last, out.data(), poll);
                });
            },
            "rows"_a.noconvert(), "columns"_a.noconvert(), "same"_a, "first"_a, "last"_a,
            "out"_a.noconvert(), "stop"_a.none(),
            "k of the rows from first to last with all columns; False if `stop` said so.")
        .def(
            "matched",
            [](const PairJob& self, const Column<std::int64_t>& i, const Column<std::int64_t>& j,
               const Values& out, const std::optional<Stop>& stop) {
                require(i.shape(0) == j.shape(0) && i.shape(0) == out.shape(0),
                        "matched: there must be as many i as j, and room for each.");
                const auto left = places(i), right = places(j);
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.matched(left, right, out.data(), poll);
                });
            },
            "i"_a.noconvert(), "j"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "k of the pairs (i, j); False if `stop` said so.");

    m.def(
        "add_meetings",
        [](const Column<std::int64_t>& left_ends, const Column<std::int32_t>& left_columns,
           const Column<double>& left_values, const Column<std::int64_t>& right_ends,
           const Column<std::int32_t>& right_columns, const Column<double>& right_values,
           std::int64_t width, bool minimum, bool same, const Output<double>& out,
           const std::optional<Stop>& stop) {
            const auto left = count_rows(left_ends, left_columns, left_values);
            const auto right = count_rows(right_ends, right_columns, right_values);
            require(static_cast<std::int64_t>(out.shape(0)) == left.rows &&
                        static_cast<std::int64_t>(out.shape(1)) == right.rows &&
                        (!same || left.rows == right.rows),
                    "add_meetings: out must have one row per row of left, one column per row of "
                    "right.");
            const auto meeting = minimum ? mercer::Meeting::minimum : mercer::Meeting::product;
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::add_meetings(left, right, width, meeting, same, out.data(), poll);
            });
        },
        "left_ends"_a.noconvert(), "left_columns"_a.noconvert(), "left_values"_a.noconvert(),
        "right_ends"_a.noconvert(), "right_columns"_a.noconvert(), "right_values"_a.noconvert(),
        "width"_a, "minimum"_a, "same"_a, "out"_a.noconvert(), "stop"_a.none(),
        "Products, or minima, of the counts of common columns added to out; False if stopped.");

    bind_counts(m);
    bind_strings(m);
    bind_trees(m);
    bind_graphs(m);
    bind_random_walks(m);
    bind_node_pairs(m);
    bind_series(m);
}
