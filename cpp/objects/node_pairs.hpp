// Kernels of graphs whose nodes are compared by numbers: k(u, v) of each node u of one graph and
// each node v of another comes from a kernel of what the nodes are, computed elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "objects/graphs.hpp"
#include "objects/pair_job.hpp"
#include "objects/random_walks.hpp"

namespace mercer {

// k(u, v) = first[u * stride + v].
struct NodeValues {
    const double* first;
    std::int64_t stride;

    double operator()(std::int64_t u, std::int64_t v) const { return first[u * stride + v]; }
};

// Pairs of graphs, and where the numbers of their nodes are.
struct NodeTasks {
    std::vector<std::int64_t> lefts, rights, starts, strides;
    const double* values;
    std::int64_t count;  // of values

    std::int64_t size() const { return static_cast<std::int64_t>(lefts.size()); }
    NodeValues of(std::int64_t task) const {
        const auto p = static_cast<std::size_t>(task);
        return {values + starts[p], strides[p]};
    }
};

// A kernel of two collections of graphs; a subclass says what k is.
class NodeJob {
public:
    virtual ~NodeJob() = default;

    // out[p] = k of the pth pair. False if poll asked to stop. Throws std::out_of_range for a graph
    // that is not there, or numbers that are not.
    bool store(const NodeTasks& tasks, double* out, const Poll& poll) const;

protected:
    virtual std::int64_t lefts() const = 0;
    virtual std::int64_t rights() const = 0;
    virtual std::int64_t left_nodes(std::int64_t i) const = 0;
    virtual std::int64_t right_nodes(std::int64_t j) const = 0;
    virtual double value(std::int64_t i, std::int64_t j, NodeValues nodes,
                         Scratch& scratch) const = 0;
};

// The shortest paths of each graph, by length.
class PathLists {
public:
    struct Ends {
        std::int32_t source, target;  // counted from the first node of the graph
    };
    struct Length {
        double length;
        std::vector<Ends> paths;  // by source
    };

    // codes: one per node, of its label. weights: one per arc, its length. Stops early, and is of
    // no use then, if poll asks to.
    PathLists(const Graphs& graphs, const std::uint64_t* codes, const double* weights,
              const Poll& poll);

    std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
    std::int64_t nodes(std::int64_t i) const { return node_ends_[at(i + 1)] - node_ends_[at(i)]; }
    const std::uint64_t* codes(std::int64_t i) const { return codes_.data() + node_ends_[at(i)]; }
    // Ascending.
    const std::vector<Length>& lengths(std::int64_t i) const { return lengths_[at(i)]; }

private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    std::vector<std::int64_t> node_ends_;
    std::vector<std::uint64_t> codes_;
    std::vector<std::vector<Length>> lengths_;
};

// k = sum of k(u, u') k(v, v') over paths u to v and u' to v' of one length with equal labels at
// either end.
class NodePaths : public NodeJob {
public:
    NodePaths(const PathLists& left, const PathLists& right) : left_(left), right_(right) {}

protected:
    std::int64_t lefts() const override { return left_.size(); }
    std::int64_t rights() const override { return right_.size(); }
    std::int64_t left_nodes(std::int64_t i) const override { return left_.nodes(i); }
    std::int64_t right_nodes(std::int64_t j) const override { return right_.nodes(j); }
    double value(std::int64_t i, std::int64_t j, NodeValues nodes, Scratch& scratch) const override;

private:
    const PathLists& left_;
    const PathLists& right_;
};

// k = sum_k 1'D (W D)^k 1, D = diag(k(u, v)) over the vertices (u, v) of the product graph: of all
// k, or up to `steps`. The graphs must not be merged; all of them need k(u, v) >= 0.
class NodeWalks : public NodeJob {
public:
    static constexpr std::int64_t endless = -1;

    NodeWalks(const WalkGraphs& left, const WalkGraphs& right, std::int64_t steps);

    // out[p] = a number above WalkGraphs::least_margin and not above 1 - scale * rho(W D), proved
    // by a positive x with scale * W D x < x; -1 if there is none.
    bool margins(const NodeTasks& tasks, double scale, double* out, const Poll& poll) const;

protected:
    std::int64_t lefts() const override { return left_.size(); }
    std::int64_t rights() const override { return right_.size(); }
    std::int64_t left_nodes(std::int64_t i) const override { return left_.nodes(i); }
    std::int64_t right_nodes(std::int64_t j) const override { return right_.nodes(j); }
    double value(std::int64_t i, std::int64_t j, NodeValues nodes, Scratch& scratch) const override;

private:
    const WalkGraphs& left_;
    const WalkGraphs& right_;
    std::int64_t steps_;
};

}  // namespace mercer
