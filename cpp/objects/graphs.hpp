// Kernels of graphs: what is counted in each of many graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "system/pool.hpp"

namespace mercer {

// Graphs one after another, with nodes numbered through. Graph g has the nodes from node_ends[g] to
// node_ends[g + 1]; the arcs from arc_ends[v] to arc_ends[v + 1] lead from node v to its
// neighbours, which ascend. There is one more of node_ends than graphs, and of arc_ends than nodes.
struct Graphs {
    const std::int64_t* node_ends;
    const std::int64_t* arc_ends;
    const std::int64_t* neighbours;
    std::int64_t count, nodes, arcs;
};

// Throws std::invalid_argument if the arrays are not graphs.
void check_graphs(const Graphs& graphs);
// Throws std::invalid_argument if the weight of an arc is not a length.
void check_lengths(const Graphs& graphs, const double* weights);

struct IdCount {
    std::uint64_t id;
    double count;
};

// For each graph its different ids, ascending, and how often each occurs.
using IdCounts = std::vector<std::vector<IdCount>>;

// Counts (code of u, code of v, length of the shortest path from u to v) over all ordered pairs of
// different nodes of a graph with a path between them. codes: one per node. weights: one per arc,
// its length. A length is the least of the sums along paths, added up from u on, with twelve
// significant digits. False if poll asked to stop. Throws std::invalid_argument if the arrays are
// no graphs, or a weight is not positive.
bool count_paths(const Graphs& graphs, const std::uint64_t* codes, const double* weights,
                 IdCounts& out, const Poll& poll);

// Counts the connected induced subgraphs of `size` nodes of each graph by class. classes says which
// class, from 0 on, a subgraph with these edges is of: bit j (j - 1) / 2 + i of its index is the
// edge of nodes i < j; -1 for what is not connected. out has `kinds` numbers per graph. Self-loops
// are passed over. False if poll asked to stop. Throws std::invalid_argument if the arrays are no
// graphs.
bool count_graphlets(const Graphs& graphs, int size, const std::vector<std::int32_t>& classes,
                     std::int64_t kinds, std::int64_t* out, const Poll& poll);

inline constexpr int least_graphlet = 3, most_graphlet = 5;

}  // namespace mercer
