// Nodes of a graph that no walk can tell apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "objects/random_walks.hpp"

namespace mercer::walks {

// Classes of the nodes of one graph, refined until nodes of a class have equal labels and, along
// edges of equal label and weight, as many neighbours in every class. Walks that start anywhere in
// a class then weigh the same, so that one node can stand for all of it. Classes are numbered in
// the order of node labels and do not depend on the numbers of nodes.
class Classes {
public:
    // merge: false puts every node into a class of its own.
    Classes(const FlatGraphs& flat, std::int64_t first, std::int64_t last, bool merge)
        : flat_(flat), first_(first), count_(at(last - first)), of_(count_), order_(count_) {
        std::iota(order_.begin(), order_.end(), 0);
        const auto code = [&](std::size_t u) { return flat_.node_codes[at(first_) + u]; };
        number([&](std::size_t u, std::size_t v) { return code(u) < code(v); });
        if (!merge || !refine()) number([](std::size_t u, std::size_t v) { return u < v; });
    }

    // The class of a node, counted from the first of the graph.
    std::size_t of(std::int64_t node) const { return of_[at(node - first_)]; }
    std::size_t count() const { return classes_; }

private:
    static constexpr int most_rounds = 100;  // of a long path there may be as many as nodes
    using Signature = std::vector<std::pair<std::uint64_t, std::pair<double, std::size_t>>>;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    // Splits classes so that nodes u < v, v < u or neither are in different ones or in one.
    template <class Less>
    void number(const Less& less) {
        const auto before = [&](std::size_t u, std::size_t v) {
            return of_[u] != of_[v] ? of_[u] < of_[v] : less(u, v);
        };
        std::sort(order_.begin(), order_.end(), before);
        std::vector<std::size_t> found(count_);
        classes_ = 0;
        for (std::size_t k = 0; k < count_; ++k) {
            if (k == 0 || before(order_[k - 1], order_[k])) ++classes_;
            found[order_[k]] = classes_ - 1;
        }
        of_ = std::move(found);
    }

    // False if it took too long; then nodes of a class may still differ.
    bool refine() {
        std::vector<Signature> seen(count_);
        for (int round = 0; round < most_rounds; ++round) {
            if (classes_ == count_) return true;
            for (std::size_t u = 0; u < count_; ++u) {
                seen[u].clear();
                const std::size_t node = at(first_) + u;
                for (auto k = at(flat_.arc_ends[node]); k < at(flat_.arc_ends[node + 1]); ++k)
                    seen[u].push_back(
                        {flat_.arc_codes[k], {flat_.weights[k], of(flat_.neighbours[k])}});
                std::sort(seen[u].begin(), seen[u].end());
            }
            const std::size_t before = classes_;
            number([&](std::size_t u, std::size_t v) { return seen[u] < seen[v]; });
            if (classes_ == before) return true;
        }
        return false;
    }

    const FlatGraphs& flat_;
    std::int64_t first_;
    std::size_t count_, classes_ = 0;
    std::vector<std::size_t> of_, order_;
};

}  // namespace mercer::walks
