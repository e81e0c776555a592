// Kernels of trees for Python.
#include "objects/trees.hpp"

#include "bind/objects.hpp"
#include "objects/pair_job.hpp"

namespace {

using Places = Column<std::int64_t>;
using Labels = Column<std::uint64_t>;

mercer::TreeNodes tree_nodes(const Places& ends, const Places& sizes, const Labels& labels) {
    require(ends.shape(0) > 0 && sizes.shape(0) == labels.shape(0) &&
                ends.data()[ends.shape(0) - 1] == static_cast<std::int64_t>(sizes.shape(0)),
            "trees: ends, sizes and labels must fit.");
    return {ends.data(), sizes.data(), labels.data(), static_cast<std::int64_t>(ends.shape(0)) - 1};
}

}  // namespace

void bind_trees(nb::module_& m) {
    using mercer::Forest, mercer::PairJob, mercer::PartialTreeJob, mercer::SubsetTreeJob;
    using Hashes = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Counts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

    m.def(
        "hash_subtrees",
        [](const Places& ends, const Places& sizes, const Labels& labels, const Hashes& hashes,
           const Counts& inner) {
            const auto nodes = tree_nodes(ends, sizes, labels);
            require(hashes.shape(0) == sizes.shape(0) && inner.shape(0) == sizes.shape(0),
                    "hash_subtrees: there must be room for each node.");
            const nb::gil_scoped_release release;
            mercer::hash_subtrees(nodes, hashes.data(), inner.data());
        },
        "ends"_a.noconvert(), "sizes"_a.noconvert(), "labels"_a.noconvert(), "hashes"_a.noconvert(),
        "inner"_a.noconvert(),
        "For each node a hash of its subtree, and how many nodes there have children.");

    nb::class_<Forest>(m, "Forest", "Trees, their nodes grouped by what they are compared by.")
        .def(
            "__init__",
            [](Forest* self, const Places& ends, const Places& sizes, const Labels& labels,
               bool productions) {
                const auto nodes = tree_nodes(ends, sizes, labels);
                const auto likeness =
                    productions ? mercer::Likeness::production : mercer::Likeness::label;
                new (self) Forest(nodes, likeness);
            },
            "ends"_a.noconvert(), "sizes"_a.noconvert(), "labels"_a.noconvert(), "productions"_a)
        .def("__len__", &Forest::size);

    nb::class_<SubsetTreeJob, PairJob>(m, "SubsetTreeJob")
        .def(nb::init<const Forest&, const Forest&, double>(), "left"_a, "right"_a, "decay"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());

    nb::class_<PartialTreeJob, PairJob>(m, "PartialTreeJob")
        .def(nb::init<const Forest&, const Forest&, double, double>(), "left"_a, "right"_a,
             "decay"_a, "depth_decay"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}
