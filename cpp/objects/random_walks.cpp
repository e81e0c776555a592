#include "objects/random_walks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "objects/walk_classes.hpp"
#include "objects/walk_product.hpp"
#include "objects/walk_series.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

using walks::dot, walks::finite, walks::geometric, walks::Gradients, walks::most_steps,
    walks::Product;

void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
}

bool ascends(const std::vector<std::int64_t>& ends, std::size_t total) {
    return !ends.empty() && ends.front() == 0 && std::is_sorted(ends.begin(), ends.end()) &&
           ends.back() == static_cast<std::int64_t>(total);
}

void check(const FlatGraphs& flat) {
    require(ascends(flat.node_ends, flat.node_codes.size()) &&
                flat.arc_ends.size() == flat.node_codes.size() + 1 &&
                ascends(flat.arc_ends, flat.neighbours.size()) &&
                flat.arc_codes.size() == flat.neighbours.size() &&
                flat.weights.size() == flat.neighbours.size(),
            "WalkGraphs: the arrays must fit.");
    for (const double weight : flat.weights)
        require(weight >= 0 && std::isfinite(weight),
                "WalkGraphs: weights must be finite and not negative.");
    for (std::size_t i = 0; i + 1 < flat.node_ends.size(); ++i) {
        const std::int64_t first = flat.node_ends[i], last = flat.node_ends[i + 1];
        require(last - first <= std::numeric_limits<std::int32_t>::max(),
                "WalkGraphs: a graph is too large.");
        const auto arc = [&](std::int64_t node) {
            return flat.neighbours.begin() + flat.arc_ends[static_cast<std::size_t>(node)];
        };
        require(std::all_of(arc(first), arc(last),
                            [&](std::int64_t v) { return v >= first && v < last; }),
                "WalkGraphs: an arc must stay within its graph.");
    }
}

// A bound of 1 - scale * rho(W) from below, or -1. W has no negative entries, so that x > 0 with
// scale * W x <= (1 - m) x, entry by entry, proves scale * rho(W) <= 1 - m (Collatz, Wielandt).
double margin(const Product& product, double scale, Scratch& scratch) {
    if (!product.has_edges()) return 1;
    const std::int64_t size = product.size();
    double* row = product.room(walks::gradient_vectors + 2, scratch);
    Gradients gradients(product, scale, row);
    double* x = row + product.width() + walks::gradient_vectors * size;
    double* y = x + size;
    std::fill(x, x + size, 0.0);
    const auto small = [](double r) { return std::abs(r) <= 0.25; };
    for (std::int64_t left = most_steps(product); left > 0; --left) {
        if (!(gradients.step(x) > 0) || scratch.stopped(product.work())) return -1;
        if (!std::all_of(gradients.residual(), gradients.residual() + size, small)) continue;
        product.apply(x, y, row);
        double least = 1;
        for (std::int64_t k = 0; k < size; ++k) {
            const double share = 1 - scale * y[k] / x[k];
            if (!(x[k] > 0 && share > WalkGraphs::least_margin)) return -1;
            least = std::min(least, share);
        }
        return least;
    }
    return -1;
}

// How two graphs without different labels of their own meet.
enum class Meeting { nowhere, at_nodes, along_edges };

Meeting meeting(const WalkGraphs& left, std::int64_t i, const WalkGraphs& right, std::int64_t j) {
    if (left.groups(i)->code != right.groups(j)->code) return Meeting::nowhere;
    const bool edges = left.kinds(i) != left.kinds_end(i) && right.kinds(j) != right.kinds_end(j);
    return edges && left.kinds(i)->edge_code == right.kinds(j)->edge_code ? Meeting::along_edges
                                                                          : Meeting::at_nodes;
}

// sum_i sum_j a_i b_j / (1 - s_i t_j).
double spectral(const WalkGraphs::Summary& left, std::int64_t i, const WalkGraphs::Summary& right,
                std::int64_t j) {
    const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
    const double* t = right.values.data() + right.ends[column];
    const double* b = right.weights.data() + right.ends[column];
    const std::int64_t count = right.ends[column + 1] - right.ends[column];
    double total = 0;
    for (auto k = static_cast<std::size_t>(left.ends[row]);
         k < static_cast<std::size_t>(left.ends[row + 1]); ++k) {
        const double s = left.values[k];
        double sums[4] = {0, 0, 0, 0};
        std::int64_t l = 0;
        for (; l + 4 <= count; l += 4)
            for (int lane = 0; lane < 4; ++lane) sums[lane] += b[l + lane] / (1 - s * t[l + lane]);
        for (; l < count; ++l) sums[0] += b[l] / (1 - s * t[l]);
        total += left.weights[k] * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    return total;
}

double node_pairs(const WalkGraphs& left, std::int64_t i, const WalkGraphs& right, std::int64_t j) {
    return left.groups(i)->nodes * right.groups(j)->nodes;
}

// Places in an order that puts arcs of one kind together, and there those with equal heads.
bool before(const WalkGraphs::Kind& a, const WalkGraphs::Arc& arc, const WalkGraphs::Kind& b,
            const WalkGraphs::Arc& other) {
    return std::tie(a.tail_group, a.edge_code, a.head_group, arc.head, arc.tail) <
           std::tie(b.tail_group, b.edge_code, b.head_group, other.head, other.tail);
}

bool same(const WalkGraphs::Kind& a, const WalkGraphs::Kind& b) {
    return a.tail_group == b.tail_group && a.edge_code == b.edge_code &&
           a.head_group == b.head_group;
}

}  // namespace

WalkGraphs::WalkGraphs(const FlatGraphs& flat, bool merge)
    : merged_(merge), node_ends_(flat.node_ends) {
    check(flat);
    for (std::size_t i = 0; i + 1 < flat.node_ends.size(); ++i) {
        const std::int64_t first = flat.node_ends[i], last = flat.node_ends[i + 1];
        const walks::Classes classes(flat, first, last, merge);
        add_arcs(flat, classes, add_nodes(flat, first, last, classes));
        group_ends_.push_back(static_cast<std::int64_t>(groups_.size()));
        kind_ends_.push_back(static_cast<std::int64_t>(kinds_.size()));
    }
}

std::vector<WalkGraphs::Spot> WalkGraphs::add_nodes(const FlatGraphs& flat, std::int64_t first,
                                                    std::int64_t last,
                                                    const walks::Classes& classes) {
    std::vector<Spot> spots(classes.count());
    std::vector<double> sizes(classes.count(), 0.0);
    for (std::int64_t u = first; u < last; ++u) {
        spots[classes.of(u)].node = u;  // any of them will do
        sizes[classes.of(u)] += 1;
    }
    const std::size_t first_group = groups_.size();
    for (std::size_t c = 0; c < spots.size(); ++c) {
        const std::uint64_t code = flat.node_codes[at(spots[c].node)];
        if (groups_.size() == first_group || groups_.back().code != code)
            groups_.push_back({code, static_cast<std::int64_t>(class_sizes_.size()), 0, 0.0});
        spots[c].code = code;
        spots[c].group = static_cast<std::int64_t>(groups_.size() - first_group) - 1;
        spots[c].place = static_cast<std::int32_t>(groups_.back().classes++);
        groups_.back().nodes += sizes[c];
        class_sizes_.push_back(sizes[c]);
        class_nodes_.push_back(spots[c].node - first);
    }
    return spots;
}

void WalkGraphs::add_arcs(const FlatGraphs& flat, const walks::Classes& classes,
                          const std::vector<Spot>& spots) {
    std::vector<std::pair<Kind, Arc>> arcs;
    for (const Spot& tail : spots)
        for (std::int64_t k = flat.arc_ends[at(tail.node)]; k < flat.arc_ends[at(tail.node + 1)];
             ++k) {
            const Spot& head = spots[classes.of(flat.neighbours[at(k)])];
            arcs.push_back(
                {{tail.code, flat.arc_codes[at(k)], head.code, tail.group, head.group, 0, 0},
                 {tail.place, head.place, flat.weights[at(k)]}});
        }
    std::sort(arcs.begin(), arcs.end(), [](const auto& a, const auto& b) {
        return before(a.first, a.second, b.first, b.second);
    });
    const std::size_t first_kind = kinds_.size();
    for (const auto& [kind, arc] : arcs) {
        if (kinds_.size() == first_kind || !same(kinds_.back(), kind)) {
            kinds_.push_back(kind);
            kinds_.back().first = kinds_.back().last = static_cast<std::int64_t>(by_head_.size());
        }
        const bool empty = kinds_.back().first == kinds_.back().last;
        if (!empty && by_head_.back().head == arc.head && by_head_.back().tail == arc.tail) {
            by_head_.back().weight += arc.weight;  // to several nodes of one class
            continue;
        }
        by_head_.push_back(arc);
        ++kinds_.back().last;
    }
    for (std::size_t kind = first_kind; kind < kinds_.size(); ++kind) add_turns(kinds_[kind]);
}

void WalkGraphs::add_turns(const Kind& kind) {
    std::vector<std::pair<std::int64_t, Arc>> turns;
    std::vector<std::int64_t> met;  // arcs of each tail so far
    for (std::int64_t k = kind.first; k < kind.last; ++k) {
        const Arc& arc = by_head_[at(k)];
        if (at(arc.tail) >= met.size()) met.resize(at(arc.tail) + 1, 0);
        turns.push_back({met[at(arc.tail)]++, arc});
    }
    std::stable_sort(turns.begin(), turns.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [turn, arc] : turns) by_turn_.push_back(arc);
}

bool WalkGraphs::uniform(std::int64_t i) const {
    return groups_end(i) - groups(i) == 1 && kinds_end(i) - kinds(i) <= 1;
}

bool WalkGraphs::margins(const std::vector<std::int64_t>& chosen, double scale, double* out,
                         const Poll& poll) const {
    for (const std::int64_t i : chosen)
        if (i < 0 || i >= size()) throw std::out_of_range("WalkGraphs: there is no such graph.");
    std::vector<Scratch> scratch(at(num_threads()));
    return parallel_for(
        static_cast<std::int64_t>(chosen.size()),
        [&](std::int64_t p, int worker) {
            const std::int64_t i = chosen[at(p)];
            scratch[at(worker)].worker = worker;
            out[p] = margin(Product(*this, i, *this, i), scale, scratch[at(worker)]);
        },
        poll);
}

void WalkGraphs::summarise(Summary summary) {
    require(summary_.ends.empty(), "WalkGraphs: programs may rely on the summary already.");
    require(summary.ends.size() == at(size()) + 1 &&
                ascends(summary.ends, summary.weights.size()) &&
                (summary.values.empty() || summary.values.size() == summary.weights.size()),
            "WalkGraphs: the summary must fit the graphs.");
    summary_ = std::move(summary);
}

GeometricWalks::GeometricWalks(const WalkGraphs& left, const WalkGraphs& right)
    : PairJob(left.size(), right.size()), left_(left), right_(right) {
    for (const WalkGraphs* graphs : {&left, &right}) {
        const auto& known = graphs->summary();
        require(known.ends.size() == static_cast<std::size_t>(graphs->size()) + 1 &&
                    known.values.size() == known.weights.size(),
                "GeometricWalks: the graphs must have spectra.");
    }
}

double GeometricWalks::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    if (left_.uniform(i) && right_.uniform(j)) {
        const Meeting kind = meeting(left_, i, right_, j);
        if (kind == Meeting::along_edges) return spectral(left_.summary(), i, right_.summary(), j);
        return kind == Meeting::at_nodes ? node_pairs(left_, i, right_, j) : 0.0;
    }
    return geometric(Product(left_, i, right_, j), scratch);
}

FiniteWalks::FiniteWalks(const WalkGraphs& left, const WalkGraphs& right, std::int64_t steps)
    : PairJob(left.size(), right.size()), left_(left), right_(right), steps_(steps) {
    require(steps >= 0, "FiniteWalks: steps must not be negative.");
    for (const WalkGraphs* graphs : {&left, &right}) {
        const auto& ends = graphs->summary().ends;
        require(ends.size() == static_cast<std::size_t>(graphs->size()) + 1,
                "FiniteWalks: the graphs must have numbers of walks.");
        for (std::int64_t i = 0; i < graphs->size(); ++i) {
            const auto k = static_cast<std::size_t>(i);
            require(!graphs->uniform(i) || ends[k + 1] - ends[k] == steps + 1,
                    "FiniteWalks: there must be a number of walks for every length.");
        }
    }
}

double FiniteWalks::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    if (left_.uniform(i) && right_.uniform(j)) {
        const Meeting kind = meeting(left_, i, right_, j);
        if (kind == Meeting::nowhere) return 0;
        if (kind == Meeting::at_nodes) return node_pairs(left_, i, right_, j);
        const auto &mine = left_.summary(), &theirs = right_.summary();
        const double* a = mine.weights.data() + mine.ends[static_cast<std::size_t>(i)];
        const double* b = theirs.weights.data() + theirs.ends[static_cast<std::size_t>(j)];
        return dot(a, b, steps_ + 1);
    }
    return finite(Product(left_, i, right_, j), steps_, scratch);
}

}  // namespace mercer
