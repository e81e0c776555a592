// Kernels of objects for Python: what all of them share.
#include "bind_objects.hpp"

#include <nanobind/stl/vector.h>

#include <vector>

#include "pair_job.hpp"
#include "sparse.hpp"

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
                    "add_meetings: out must have the rows of left and a column a row of right.");
            const auto meeting = minimum ? mercer::Meeting::minimum : mercer::Meeting::product;
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::add_meetings(left, right, width, meeting, same, out.data(), poll);
            });
        },
        "left_ends"_a.noconvert(), "left_columns"_a.noconvert(), "left_values"_a.noconvert(),
        "right_ends"_a.noconvert(), "right_columns"_a.noconvert(), "right_values"_a.noconvert(),
        "width"_a, "minimum"_a, "same"_a, "out"_a.noconvert(), "stop"_a.none(),
        "Products, or minima, of the counts of common columns added to out; False if stopped.");

    bind_strings(m);
    bind_trees(m);
    bind_graphs(m);
    bind_random_walks(m);
    bind_series(m);
}
