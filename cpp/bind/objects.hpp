// Kernels of objects for Python, a file for each kind of object.
#pragma once

#include "bind/arrays.hpp"
#include "objects/graphs.hpp"

void bind_strings(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_random_walks(nb::module_& m);
void bind_node_pairs(nb::module_& m);
void bind_series(nb::module_& m);

namespace {

// Graphs from arrays that Python keeps.
inline mercer::Graphs graphs(const Column<std::int64_t>& node_ends,
                             const Column<std::int64_t>& arc_ends,
                             const Column<std::int64_t>& neighbours) {
    require(node_ends.shape(0) > 0 && arc_ends.shape(0) > 0,
            "graphs: there must be one more end than graphs, and than nodes.");
    return {node_ends.data(),
            arc_ends.data(),
            neighbours.data(),
            static_cast<std::int64_t>(node_ends.shape(0)) - 1,
            static_cast<std::int64_t>(arc_ends.shape(0)) - 1,
            static_cast<std::int64_t>(neighbours.shape(0))};
}

}  // namespace
