// Kernels of graphs for Python.
#include <nanobind/stl/optional.h>

#include <vector>

#include "bind/objects.hpp"

namespace {

// How often each id occurs in each of many objects, until Python has made room for it.
struct Tally {
    mercer::IdCounts counts;

    std::int64_t total() const {
        std::int64_t sum = 0;
        for (const auto& row : counts) sum += static_cast<std::int64_t>(row.size());
        return sum;
    }
};

template <class T>
using Room = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void bind_tally(nb::module_& m) {
    nb::class_<Tally>(m, "Tally", "How often each id occurs in each of many objects.")
        .def_prop_ro("total", &Tally::total, "The number of different ids of all objects.")
        .def(
            "store",
            [](const Tally& self, const Room<std::int64_t>& ends, const Room<std::uint64_t>& ids,
               const Room<double>& values) {
                require(ends.shape(0) == self.counts.size() + 1 &&
                            ids.shape(0) == values.shape(0) &&
                            static_cast<std::int64_t>(ids.shape(0)) == self.total(),
                        "store: there must be room for the counts of all objects.");
                std::int64_t place = 0;
                ends.data()[0] = 0;
                for (std::size_t object = 0; object < self.counts.size(); ++object) {
                    for (const auto& [id, count] : self.counts[object]) {
                        ids.data()[place] = id;
                        values.data()[place++] = count;
                    }
                    ends.data()[object + 1] = place;
                }
            },
            "ends"_a.noconvert(), "ids"_a.noconvert(), "values"_a.noconvert(),
            "Write the ids of each object, ascending, and their counts.");
}

}  // namespace

void bind_graphs(nb::module_& m) {
    bind_tally(m);
    m.def(
        "count_paths",
        [](const Column<std::int64_t>& node_ends, const Column<std::int64_t>& arc_ends,
           const Column<std::int64_t>& neighbours, const Column<std::uint64_t>& codes,
           const Column<double>& weights, const std::optional<Stop>& stop) -> std::optional<Tally> {
            const auto given = graphs(node_ends, arc_ends, neighbours);
            require(static_cast<std::int64_t>(codes.shape(0)) == given.nodes &&
                        static_cast<std::int64_t>(weights.shape(0)) == given.arcs,
                    "count_paths: there must be a code for each node and a weight for each arc.");
            Tally made;
            const bool done = run(stop, [&](const mercer::Poll& poll) {
                return mercer::count_paths(given, codes.data(), weights.data(), made.counts, poll);
            });
            if (!done) return std::nullopt;
            return made;
        },
        "node_ends"_a.noconvert(), "arc_ends"_a.noconvert(), "neighbours"_a.noconvert(),
        "codes"_a.noconvert(), "weights"_a.noconvert(), "stop"_a.none(),
        "Shortest paths of each graph by the codes of their ends and their length; None if "
        "stopped.");
    m.def(
        "count_graphlets",
        [](const Column<std::int64_t>& node_ends, const Column<std::int64_t>& arc_ends,
           const Column<std::int64_t>& neighbours, int size, const Column<std::int32_t>& classes,
           const Output<std::int64_t>& out, const std::optional<Stop>& stop) {
            const auto given = graphs(node_ends, arc_ends, neighbours);
            require(static_cast<std::int64_t>(out.shape(0)) == given.count,
                    "count_graphlets: out must have a row for each graph.");
            const std::vector<std::int32_t> kinds(classes.data(),
                                                  classes.data() + classes.shape(0));
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::count_graphlets(
                    given, size, kinds, static_cast<std::int64_t>(out.shape(1)), out.data(), poll);
            });
        },
        "node_ends"_a.noconvert(), "arc_ends"_a.noconvert(), "neighbours"_a.noconvert(), "size"_a,
        "classes"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
        "Connected induced subgraphs of each graph by class; False if stopped.");
}
