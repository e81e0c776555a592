#include "objects/graphs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <stdexcept>

#include "objects/path_search.hpp"
#include "system/cpu.hpp"
#include "system/hash.hpp"

namespace mercer {

namespace {

constexpr std::int64_t roots_at_once = 64;

std::size_t at(std::int64_t place) {
    return static_cast<std::size_t>(place);
}

// How often each id was met. Ids are hashes: their low bits are places in a table.
class Meter {
public:
    void add(std::uint64_t id) {
        Slot& slot = find(id);
        slot.id = id;
        if (slot.count++ == 0 && 2 * ++used_ > slots_.size()) grow();
    }

    // Hands over all counts, by ascending id, and starts afresh.
    std::vector<IdCount> drain() {
        std::vector<IdCount> found;
        found.reserve(used_);
        for (const Slot& slot : slots_)
            if (slot.count > 0) found.push_back({slot.id, static_cast<double>(slot.count)});
        std::sort(found.begin(), found.end(),
                  [](const IdCount& a, const IdCount& b) { return a.id < b.id; });
        slots_.assign(fresh, {});
        used_ = 0;
        return found;
    }

private:
    struct Slot {
        std::uint64_t id = 0;
        std::uint64_t count = 0;
    };
    static constexpr std::size_t fresh = 1024;

    Slot& find(std::uint64_t id) {
        std::size_t place = id & (slots_.size() - 1);
        while (slots_[place].count > 0 && slots_[place].id != id)
            place = (place + 1) & (slots_.size() - 1);
        return slots_[place];
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.count > 0) find(slot.id) = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(fresh);
    std::size_t used_ = 0;
};

// What is counted of shortest paths.
class Paths {
public:
    Paths(const Graphs& graphs, const std::uint64_t* codes, const double* weights)
        : graphs_(graphs), codes_(codes), search_(graphs, weights) {}

    // The counts of graph g; what was found so far if the task is to end.
    std::vector<IdCount> count(std::int64_t g, int worker) {
        search_.enter(g);
        const std::int64_t first = graphs_.node_ends[g], last = graphs_.node_ends[g + 1];
        for (std::int64_t u = first; u < last && !stop_asked(worker); ++u) {
            const std::vector<double>& lengths = search_.from(u);
            const std::uint64_t start = mix(codes_[u] + 0x9e3779b97f4a7c15ULL);
            for (std::int64_t v = first; v < last; ++v) {
                const double length = lengths[at(v - first)];
                if (v == u || length == PathSearch::unreached) continue;
                meter_.add(mix(mix(start + codes_[v]) + std::bit_cast<std::uint64_t>(length)));
            }
        }
        return meter_.drain();
    }

private:
    const Graphs& graphs_;
    const std::uint64_t* codes_;
    PathSearch search_;
    Meter meter_;
};

// Connected sets of nodes whose least one is the root, each met once: a set is extended by nodes
// beyond the root that its latest node brings near, and by those passed over before (Wernicke,
// "Efficient detection of network motifs", 2006).
class Graphlets {
public:
    Graphlets(const Graphs& graphs, int size, const std::vector<std::int32_t>& classes,
              std::int64_t kinds)
        : graphs_(graphs), size_(size), classes_(classes), tally_(at(kinds) + 1) {}

    // Adds the sets of one root of a graph, whose first node is `first`.
    void from(std::int64_t root, std::int64_t first, std::int64_t last, int worker) {
        first_ = first;
        root_ = root;
        worker_ = worker;
        if (joined_.size() < at(last - first)) joined_.resize(at(last - first));
        candidates_.clear();
        choose(root, 0, 0, 0, 0);
    }

    // Hands over how many sets of each class there were, and starts afresh.
    void drain(std::int64_t* out) {
        for (std::size_t kind = 1; kind < tally_.size(); ++kind) out[kind - 1] += tally_[kind];
        std::fill(tally_.begin(), tally_.end(), 0);
    }

private:
    // Bit i says that the node is joined to the chosen node i.
    std::uint32_t& joined(std::int64_t node) { return joined_[at(node - first_)]; }

    bool halted() {
        if (++steps_ % 1024 == 0) halted_ = stop_asked(worker_);
        return halted_;
    }

    // Goes on with `node` chosen beside `chosen` others, whose edges are in mask; the candidates
    // from begin to end are still to be tried with them.
    void choose(std::int64_t node, int chosen, std::uint32_t mask, std::size_t begin,
                std::size_t end) {
        const std::size_t top = candidates_.size();
        candidates_.resize(top + (end - begin));
        std::copy(candidates_.begin() + static_cast<std::ptrdiff_t>(begin),
                  candidates_.begin() + static_cast<std::ptrdiff_t>(end),
                  candidates_.begin() + static_cast<std::ptrdiff_t>(top));
        const std::int64_t* const neighbours = graphs_.neighbours + graphs_.arc_ends[node];
        const std::int64_t* const stop = graphs_.neighbours + graphs_.arc_ends[node + 1];
        const std::uint32_t bit = 1u << chosen;
        for (const std::int64_t* u = neighbours; u < stop; ++u) {
            if (*u == node) continue;
            if (*u > root_ && joined(*u) == 0) candidates_.push_back(*u);
            joined(*u) |= bit;
        }
        extend(chosen + 1, mask, top);
        for (const std::int64_t* u = neighbours; u < stop; ++u) joined(*u) &= ~bit;
        candidates_.resize(top);
    }

    // Tries all candidates from `begin` on as the next node.
    void extend(int chosen, std::uint32_t mask, std::size_t begin) {
        const int shift = chosen * (chosen - 1) / 2;
        const std::size_t end = candidates_.size();
        if (chosen + 1 == size_) {
            for (std::size_t k = begin; k < end; ++k)
                ++tally_[at(classes_[mask | joined(candidates_[k]) << shift] + 1)];
            return;
        }
        for (std::size_t k = begin; k < end && !halted(); ++k) {
            const std::int64_t node = candidates_[k];
            choose(node, chosen, mask | joined(node) << shift, k + 1, end);
        }
    }

    const Graphs& graphs_;
    const int size_;
    const std::vector<std::int32_t>& classes_;
    std::vector<std::int64_t> tally_;  // of no class, then of each class
    std::int64_t first_ = 0, root_ = 0;
    int worker_ = 0;
    bool halted_ = false;
    std::uint64_t steps_ = 0;
    std::vector<std::uint32_t> joined_;
    std::vector<std::int64_t> candidates_;
};

void check(int size, const std::vector<std::int32_t>& classes, std::int64_t kinds) {
    if (size < least_graphlet || size > most_graphlet)
        throw std::invalid_argument("count_graphlets: the size must be from 3 to 5.");
    if (classes.size() != std::size_t{1} << (size * (size - 1) / 2))
        throw std::invalid_argument("count_graphlets: there must be a class for all edges.");
    for (const std::int32_t kind : classes)
        if (kind < -1 || kind >= kinds)
            throw std::out_of_range("count_graphlets: there is no such class.");
}

}  // namespace

void check_graphs(const Graphs& graphs) {
    const auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("graphs: nodes and arcs must fit together.");
    };
    require(graphs.node_ends[0] == 0 && graphs.arc_ends[0] == 0 &&
            graphs.node_ends[graphs.count] == graphs.nodes &&
            graphs.arc_ends[graphs.nodes] == graphs.arcs);
    for (std::int64_t g = 0; g < graphs.count; ++g)
        require(graphs.node_ends[g] <= graphs.node_ends[g + 1]);
    for (std::int64_t v = 0; v < graphs.nodes; ++v)
        require(graphs.arc_ends[v] <= graphs.arc_ends[v + 1]);
    // Now every index below is within its array.
    for (std::int64_t g = 0; g < graphs.count; ++g)
        for (std::int64_t v = graphs.node_ends[g]; v < graphs.node_ends[g + 1]; ++v)
            for (std::int64_t k = graphs.arc_ends[v]; k < graphs.arc_ends[v + 1]; ++k) {
                const std::int64_t u = graphs.neighbours[k];
                require(graphs.node_ends[g] <= u && u < graphs.node_ends[g + 1]);
                require(k == graphs.arc_ends[v] || graphs.neighbours[k - 1] < u);
            }
}

void check_lengths(const Graphs& graphs, const double* weights) {
    for (std::int64_t k = 0; k < graphs.arcs; ++k)
        if (!(weights[k] > 0.0 && std::isfinite(weights[k])))
            throw std::invalid_argument("graphs: weights must be positive and finite.");
}

bool count_paths(const Graphs& graphs, const std::uint64_t* codes, const double* weights,
                 IdCounts& out, const Poll& poll) {
    check_graphs(graphs);
    check_lengths(graphs, weights);
    out.assign(at(graphs.count), {});
    std::vector<Paths> workers(at(num_threads()), Paths(graphs, codes, weights));
    return parallel_for(
        graphs.count,
        [&](std::int64_t g, int worker) { out[at(g)] = workers[at(worker)].count(g, worker); },
        poll);
}

bool count_graphlets(const Graphs& graphs, int size, const std::vector<std::int32_t>& classes,
                     std::int64_t kinds, std::int64_t* out, const Poll& poll) {
    check_graphs(graphs);
    check(size, classes, kinds);
    std::fill_n(out, graphs.count * kinds, std::int64_t{0});
    std::mutex adding;
    std::vector<Graphlets> workers(at(num_threads()), Graphlets(graphs, size, classes, kinds));
    const auto run = [&](std::int64_t task, int worker) {
        Graphlets& mine = workers[at(worker)];
        std::int64_t v = task * roots_at_once;
        const std::int64_t end = std::min(v + roots_at_once, graphs.nodes);
        const std::int64_t* const ends = graphs.node_ends;
        std::int64_t g = std::upper_bound(ends, ends + graphs.count, v) - ends - 1;
        for (; v < end; ++g) {
            for (; v < std::min(end, ends[g + 1]); ++v) mine.from(v, ends[g], ends[g + 1], worker);
            // Another task may have roots of the same graph.
            const std::lock_guard<std::mutex> lock(adding);
            mine.drain(out + g * kinds);
        }
    };
    return parallel_for((graphs.nodes + roots_at_once - 1) / roots_at_once, run, poll);
}

}  // namespace mercer
