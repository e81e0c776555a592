// Kernels of graphs whose nodes are compared by numbers, for Python.
#include "objects/node_pairs.hpp"

#include <utility>
#include <vector>

#include "bind/objects.hpp"

namespace {

using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<std::int64_t> places(const Column<std::int64_t>& given) {
    return {given.data(), given.data() + given.shape(0)};
}

mercer::NodeTasks tasks(const Column<std::int64_t>& lefts, const Column<std::int64_t>& rights,
                        const Column<double>& values, const Column<std::int64_t>& starts,
                        const Column<std::int64_t>& strides, const Numbers& out) {
    require(out.shape(0) == lefts.shape(0), "node job: there must be room for each pair.");
    return {places(lefts),   places(rights), places(starts),
            places(strides), values.data(),  static_cast<std::int64_t>(values.shape(0))};
}

}  // namespace

void bind_node_pairs(nb::module_& m) {
    nb::class_<mercer::NodeJob>(m, "NodeJob",
                                "A kernel of graphs, given k(u, v) of all nodes u and v of a pair.")
        .def(
            "store",
            [](const mercer::NodeJob& self, const Column<std::int64_t>& lefts,
               const Column<std::int64_t>& rights, const Column<double>& values,
               const Column<std::int64_t>& starts, const Column<std::int64_t>& strides,
               const Numbers& out, const std::optional<Stop>& stop) {
                const auto given = tasks(lefts, rights, values, starts, strides, out);
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.store(given, out.data(), poll);
                });
            },
            "lefts"_a.noconvert(), "rights"_a.noconvert(), "values"_a.noconvert(),
            "starts"_a.noconvert(), "strides"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "k of each pair, k(u, v) = values[start + u * stride + v]; False if `stop` said so.");
    nb::class_<mercer::PathLists>(m, "PathLists", "The shortest paths of graphs, by length.")
        .def(
            "__init__",
            [](mercer::PathLists* self, const Column<std::int64_t>& node_ends,
               const Column<std::int64_t>& arc_ends, const Column<std::int64_t>& neighbours,
               const Column<std::uint64_t>& codes, const Column<double>& weights) {
                const auto given = graphs(node_ends, arc_ends, neighbours);
                require(static_cast<std::int64_t>(codes.shape(0)) == given.nodes &&
                            static_cast<std::int64_t>(weights.shape(0)) == given.arcs,
                        "PathLists: there must be a code for each node and a weight for each arc.");
                std::optional<mercer::PathLists> made;
                run(std::nullopt, [&](const mercer::Poll& poll) {
                    bool stopped = false;
                    made.emplace(given, codes.data(), weights.data(),
                                 [&] { return stopped = poll(); });
                    return !stopped;
                });
                new (self) mercer::PathLists(std::move(*made));
            },
            "node_ends"_a.noconvert(), "arc_ends"_a.noconvert(), "neighbours"_a.noconvert(),
            "codes"_a.noconvert(), "weights"_a.noconvert())
        .def("__len__", &mercer::PathLists::size);
    nb::class_<mercer::NodePaths, mercer::NodeJob>(m, "NodePaths")
        .def(nb::init<const mercer::PathLists&, const mercer::PathLists&>(), "left"_a, "right"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<mercer::NodeWalks, mercer::NodeJob>(m, "NodeWalks")
        .def(nb::init<const mercer::WalkGraphs&, const mercer::WalkGraphs&, std::int64_t>(),
             "left"_a, "right"_a, "steps"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_ro_static("ENDLESS", &mercer::NodeWalks::endless)
        .def(
            "margins",
            [](const mercer::NodeWalks& self, const Column<std::int64_t>& lefts,
               const Column<std::int64_t>& rights, const Column<double>& values,
               const Column<std::int64_t>& starts, const Column<std::int64_t>& strides,
               double scale, const Numbers& out) {
                const auto given = tasks(lefts, rights, values, starts, strides, out);
                run(std::nullopt, [&](const mercer::Poll& poll) {
                    return self.margins(given, scale, out.data(), poll);
                });
            },
            "lefts"_a.noconvert(), "rights"_a.noconvert(), "values"_a.noconvert(),
            "starts"_a.noconvert(), "strides"_a.noconvert(), "scale"_a, "out"_a.noconvert(),
            "1 - scale * rho of the weighed product of each pair, or less; -1 if not above 0.");
}
