// Kernels of random walks: walks that two graphs have in common, counted on their product graph.
//
// The product graph has a vertex for each pair of nodes with equal labels and joins two of them
// where both graphs have an edge of one label; its matrix W has the products of the weights. It is
// never stored. Sorted by node label, a vector on its vertices is a few dense blocks X_b, and
// (W X)_a = sum A_t X_b B_t', over the kinds t = (label a, edge label, label b) of arcs, where A_t
// and B_t are the arcs of that kind in either graph. Nodes of a graph that no walk can tell apart
// have equal entries in every vector that is met; one entry is kept for all of such a class.
#pragma once

#include <cstdint>
#include <vector>

#include "objects/pair_job.hpp"

namespace mercer {

namespace walks {
class Classes;
}

// Graphs one after another, as `graph_arrays.py` lays them out; an edge has an arc each way.
struct FlatGraphs {
    std::vector<std::int64_t> node_ends, arc_ends, neighbours;
    std::vector<std::uint64_t> node_codes, arc_codes;
    std::vector<double> weights;
};

// Graphs sorted by what decides whether nodes and arcs match.
class WalkGraphs {
public:
    struct Arc {
        std::int32_t tail, head;  // places among the classes of their labels
        double weight;            // from a node of one class to all of the other
    };
    struct Group {
        std::uint64_t code;                 // of the label that these nodes have
        std::int64_t first_class, classes;  // of nodes that no walk can tell apart
        double nodes;
    };
    struct Kind {
        std::uint64_t tail_code, edge_code, head_code;
        std::int64_t tail_group, head_group;  // counted from the first group of the graph
        std::int64_t first, last;             // arcs
    };
    // What is known of a graph whose nodes are all alike, and its edges: with the eigenvalues s and
    // weights w, 1'A^k 1 = sum w s^k; without values, weights are the numbers of walks.
    struct Summary {
        std::vector<std::int64_t> ends;
        std::vector<double> values, weights;
    };

    // merge: whether nodes that no walk can tell apart are kept as one.
    WalkGraphs(const FlatGraphs& flat, bool merge);

    std::int64_t size() const { return static_cast<std::int64_t>(group_ends_.size()) - 1; }
    // Whether all nodes of graph i have one label, and all edges.
    bool uniform(std::int64_t i) const;

    // out[p] = a number above `least_margin` and not above 1 - scale * rho(W) for the product of
    // graph chosen[p] with itself, proved by a positive x with scale * W x < x; -1 if there is
    // none. False if poll asked to stop.
    bool margins(const std::vector<std::int64_t>& chosen, double scale, double* out,
                 const Poll& poll) const;
    static constexpr double least_margin = 1e-10;

    void summarise(Summary summary);
    const Summary& summary() const { return summary_; }

    const Group* groups(std::int64_t i) const { return groups_.data() + group_ends_[at(i)]; }
    const Group* groups_end(std::int64_t i) const { return groups(i + 1); }
    const double* class_sizes(const Group& group) const {
        return class_sizes_.data() + group.first_class;
    }
    // A node of each class, counted from the first of the graph.
    const std::int64_t* class_nodes(const Group& group) const {
        return class_nodes_.data() + group.first_class;
    }
    std::int64_t nodes(std::int64_t i) const { return node_ends_[at(i + 1)] - node_ends_[at(i)]; }
    bool is_merged() const { return merged_; }
    const Kind* kinds(std::int64_t i) const { return kinds_.data() + kind_ends_[at(i)]; }
    const Kind* kinds_end(std::int64_t i) const { return kinds(i + 1); }
    const Arc* by_head(std::int64_t arc) const { return by_head_.data() + arc; }
    const Arc* by_turn(std::int64_t arc) const { return by_turn_.data() + arc; }

private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    struct Spot {  // of a class: one of its nodes, and where it is
        std::int64_t node, group;
        std::int32_t place;
        std::uint64_t code;
    };
    std::vector<Spot> add_nodes(const FlatGraphs& flat, std::int64_t first, std::int64_t last,
                                const walks::Classes& classes);
    void add_arcs(const FlatGraphs& flat, const walks::Classes& classes,
                  const std::vector<Spot>& spots);
    void add_turns(const Kind& kind);

    bool merged_;
    std::vector<std::int64_t> node_ends_, group_ends_{0}, kind_ends_{0};
    std::vector<Group> groups_;
    std::vector<double> class_sizes_;
    std::vector<std::int64_t> class_nodes_;
    std::vector<Kind> kinds_;
    // The arcs of a kind twice: with equal heads together, and in turns, in each of which no tail
    // comes twice, so that a sum over arcs never waits for what it has just written.
    std::vector<Arc> by_head_, by_turn_;
    Summary summary_;
};

// k = 1' (I - W)^-1 1 of every pair.
class GeometricWalks : public PairJob {
public:
    GeometricWalks(const WalkGraphs& left, const WalkGraphs& right);
    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;

private:
    const WalkGraphs& left_;
    const WalkGraphs& right_;
};

// k = 1' (I + W + ... + W^steps) 1 of every pair.
class FiniteWalks : public PairJob {
public:
    FiniteWalks(const WalkGraphs& left, const WalkGraphs& right, std::int64_t steps);
    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;

private:
    const WalkGraphs& left_;
    const WalkGraphs& right_;
    std::int64_t steps_;
};

}  // namespace mercer
