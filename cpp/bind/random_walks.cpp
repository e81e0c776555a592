// Kernels of random walks for Python.
#include "objects/random_walks.hpp"

#include <utility>
#include <vector>

#include "bind/objects.hpp"

namespace {

template <class T>
std::vector<T> copied(const Column<T>& given) {
    return {given.data(), given.data() + given.shape(0)};
}

}  // namespace

void bind_random_walks(nb::module_& m) {
    using mercer::WalkGraphs;
    using Values = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Flags = nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    nb::class_<WalkGraphs>(m, "WalkGraphs", "Graphs sorted by labels, for walks in two at once.")
        .def(
            "__init__",
            [](WalkGraphs* self, const Column<std::int64_t>& node_ends,
               const Column<std::int64_t>& arc_ends, const Column<std::int64_t>& neighbours,
               const Column<std::uint64_t>& node_codes, const Column<std::uint64_t>& arc_codes,
               const Column<double>& weights, bool merge) {
                const mercer::FlatGraphs flat{copied(node_ends),  copied(arc_ends),
                                              copied(neighbours), copied(node_codes),
                                              copied(arc_codes),  copied(weights)};
                new (self) WalkGraphs(flat, merge);
            },
            "node_ends"_a.noconvert(), "arc_ends"_a.noconvert(), "neighbours"_a.noconvert(),
            "node_codes"_a.noconvert(), "arc_codes"_a.noconvert(), "weights"_a.noconvert(),
            "merge"_a = true)
        .def("__len__", &WalkGraphs::size)
        .def_ro_static("LEAST_MARGIN", &WalkGraphs::least_margin)
        .def(
            "mark_uniform",
            [](const WalkGraphs& self, const Flags& out) {
                require(static_cast<std::int64_t>(out.shape(0)) == self.size(),
                        "mark_uniform: there must be room for each graph.");
                for (std::int64_t i = 0; i < self.size(); ++i) out.data()[i] = self.uniform(i);
            },
            "out"_a.noconvert(), "Whether all nodes of a graph are alike, and all its edges.")
        .def(
            "margins",
            [](const WalkGraphs& self, const Column<std::int64_t>& chosen, double scale,
               const Values& out) {
                require(chosen.shape(0) == out.shape(0),
                        "margins: there must be room for each chosen graph.");
                const auto graphs = copied(chosen);
                run(std::nullopt, [&](const mercer::Poll& poll) {
                    return self.margins(graphs, scale, out.data(), poll);
                });
            },
            "chosen"_a.noconvert(), "scale"_a, "out"_a.noconvert(),
            "1 - scale * rho of graphs multiplied with themselves, or less; -1 if not above 0.")
        .def(
            "summarise",
            [](WalkGraphs& self, const Column<std::int64_t>& ends, const Column<double>& values,
               const Column<double>& weights) {
                self.summarise({copied(ends), copied(values), copied(weights)});
            },
            "ends"_a.noconvert(), "values"_a.noconvert(), "weights"_a.noconvert(),
            "Keep the spectra of uniform graphs, or their numbers of walks.");
    nb::class_<mercer::GeometricWalks, mercer::PairJob>(m, "GeometricWalks")
        .def(nb::init<const WalkGraphs&, const WalkGraphs&>(), "left"_a, "right"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<mercer::FiniteWalks, mercer::PairJob>(m, "FiniteWalks")
        .def(nb::init<const WalkGraphs&, const WalkGraphs&, std::int64_t>(), "left"_a, "right"_a,
             "steps"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}
