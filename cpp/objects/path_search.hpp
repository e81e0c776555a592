// The lengths of shortest paths within a graph, from one node at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "objects/graphs.hpp"

namespace mercer {

class PathSearch {
public:
    static constexpr double unreached = std::numeric_limits<double>::infinity();

    // weights: one per arc, its length; both outlive the search.
    PathSearch(const Graphs& graphs, const double* weights) : graphs_(graphs), weights_(weights) {}

    // From now on the nodes are those of graph g.
    void enter(std::int64_t g) {
        first_ = graphs_.node_ends[g];
        last_ = graphs_.node_ends[g + 1];
        const double* const begin = weights_ + graphs_.arc_ends[first_];
        const double* const end = weights_ + graphs_.arc_ends[last_];
        steps_ = std::all_of(begin, end, [](double weight) { return weight == 1.0; });
    }

    // The length from `source` to each node of the graph, to twelve significant digits. Valid until
    // the next search.
    const std::vector<double>& from(std::int64_t source) {
        lengths_.assign(static_cast<std::size_t>(last_ - first_), unreached);
        if (steps_)
            walk(source);
        else
            search(source);
        return lengths_;
    }

private:
    struct Place {
        double length;
        std::int64_t node;
        bool operator<(const Place& other) const { return length > other.length; }  // least on top
    };

    double& length(std::int64_t node) { return lengths_[static_cast<std::size_t>(node - first_)]; }

    // With twelve significant digits sums of the same weights in another order are equal.
    static double shortened(double length) {
        if (length < 1e12 && length == std::floor(length)) return length;
        char text[32];
        std::snprintf(text, sizeof text, "%.11e", length);
        return std::strtod(text, nullptr);
    }

    // All edges have length 1: breadth first.
    void walk(std::int64_t source) {
        queue_.assign(1, source);
        length(source) = 0.0;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const std::int64_t v = queue_[next];
            for (std::int64_t k = graphs_.arc_ends[v]; k < graphs_.arc_ends[v + 1]; ++k) {
                double& found = length(graphs_.neighbours[k]);
                if (found != unreached) continue;
                found = length(v) + 1.0;
                queue_.push_back(graphs_.neighbours[k]);
            }
        }
    }

    // Dijkstra's search. Rounded sums never fall along a path, so it finds the least rounded sum,
    // whatever the numbers of the nodes.
    void search(std::int64_t source) {
        heap_.assign(1, {0.0, source});
        length(source) = 0.0;
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end());
            const Place top = heap_.back();
            heap_.pop_back();
            if (top.length > length(top.node)) continue;
            for (std::int64_t k = graphs_.arc_ends[top.node]; k < graphs_.arc_ends[top.node + 1];
                 ++k) {
                const double candidate = top.length + weights_[k];
                double& found = length(graphs_.neighbours[k]);
                if (candidate >= found) continue;
                found = candidate;
                heap_.push_back({candidate, graphs_.neighbours[k]});
                std::push_heap(heap_.begin(), heap_.end());
            }
        }
        for (double& found : lengths_)
            if (found != unreached) found = shortened(found);
    }

    const Graphs& graphs_;
    const double* weights_;
    std::int64_t first_ = 0, last_ = 0;
    bool steps_ = true;
    std::vector<double> lengths_;
    std::vector<std::int64_t> queue_;
    std::vector<Place> heap_;
};

}  // namespace mercer
