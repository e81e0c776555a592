#include "objects/node_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <tuple>

#include "objects/path_search.hpp"
#include "objects/walk_product.hpp"
#include "objects/walk_series.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

std::size_t at(std::int64_t place) {
    return static_cast<std::size_t>(place);
}

using Run = std::function<double(std::int64_t task, Scratch& scratch)>;

bool for_each(std::int64_t count, const Run& task, double* out, const Poll& poll) {
    std::vector<Scratch> scratch(at(num_threads()));
    return parallel_for(
        count,
        [&](std::int64_t p, int worker) {
            scratch[at(worker)].worker = worker;
            out[p] = task(p, scratch[at(worker)]);
        },
        poll);
}

// Whether numbers for so many nodes lie within the tasks' values.
bool is_within(const NodeTasks& tasks, std::size_t p, std::int64_t rows, std::int64_t columns) {
    if (rows == 0 || columns == 0) return true;
    const std::int64_t start = tasks.starts[p], stride = tasks.strides[p];
    return start >= 0 && stride >= columns && start <= tasks.count - columns &&
           (rows - 1) <= (tasks.count - columns - start) / stride;
}

// The paths of one graph, by length and then by source.
std::vector<PathLists::Length> lists(PathSearch& search, std::int64_t first, std::int64_t last,
                                     int worker) {
    struct Path {
        double length;
        PathLists::Ends ends;
    };
    std::vector<Path> paths;
    for (std::int64_t u = first; u < last && !stop_asked(worker); ++u) {
        const std::vector<double>& lengths = search.from(u);
        for (std::int64_t v = first; v < last; ++v)
            if (v != u && lengths[at(v - first)] != PathSearch::unreached)
                paths.push_back(
                    {lengths[at(v - first)],
                     {static_cast<std::int32_t>(u - first), static_cast<std::int32_t>(v - first)}});
    }
    std::stable_sort(paths.begin(), paths.end(),
                     [](const Path& a, const Path& b) { return a.length < b.length; });
    std::vector<PathLists::Length> found;
    for (const Path& path : paths) {
        if (found.empty() || found.back().length != path.length) found.push_back({path.length, {}});
        found.back().paths.push_back(path.ends);
    }
    return found;
}

// sum of k(u, u') k(v, v') over the paths of one length. `nodes` has `columns` numbers per row, and
// `sums` room for as many.
double meetings(const std::vector<PathLists::Ends>& mine,
                const std::vector<PathLists::Ends>& theirs, const double* nodes,
                std::int64_t columns, double* sums) {
    double total = 0;
    for (std::size_t k = 0; k < mine.size();) {
        const std::int32_t source = mine[k].source;
        std::fill(sums, sums + columns, 0.0);  // of k(v, v') over the targets v of the source
        for (; k < mine.size() && mine[k].source == source; ++k)
            walks::add_scaled(1.0, nodes + mine[k].target * columns, 1.0, sums, columns);
        const double* const row = nodes + source * columns;
        double parts[2] = {0, 0};
        std::size_t l = 0;
        for (; l + 2 <= theirs.size(); l += 2)
            for (std::size_t lane = 0; lane < 2; ++lane)
                parts[lane] += row[theirs[l + lane].source] * sums[theirs[l + lane].target];
        if (l < theirs.size()) parts[0] += row[theirs[l].source] * sums[theirs[l].target];
        total += parts[0] + parts[1];
    }
    return total;
}

// W D for a product graph whose vertices have weights D: symmetric under D.
class Weighed {
public:
    Weighed(const walks::Product& product, NodeValues nodes, Scratch& scratch) : product_(product) {
        scratch.more_numbers.resize(2 * at(product.size()));
        weights_ = scratch.more_numbers.data();
        weighed_ = weights_ + product.size();
        product.store(nodes, weights_);
        for (std::int64_t k = 0; k < product.size(); ++k) total_ += weights_[k];
    }

    std::int64_t size() const { return product_.size(); }
    std::int64_t width() const { return product_.width(); }
    bool has_edges() const { return product_.has_edges(); }
    std::int64_t work() const { return product_.work() + product_.size(); }
    double pairs() const { return total_; }
    double* room(std::int64_t vectors, Scratch& scratch) const {
        return product_.room(vectors, scratch);
    }
    void store_sizes(double* sizes) const { std::copy(weights_, weights_ + size(), sizes); }
    void apply(const double* x, double* y, double* row) const {
        for (std::int64_t k = 0; k < size(); ++k) weighed_[k] = weights_[k] * x[k];
        product_.apply(weighed_, y, row);
    }

private:
    const walks::Product& product_;
    double *weights_, *weighed_;
    double total_ = 0;
};

// As `margin` of random_walks.cpp. Conjugate gradients hardly see vertices of little weight, so
// that x may be anything there; 1 + scale * W D x is what it should be, and is tried in its place.
double margin(const Weighed& product, double scale, Scratch& scratch) {
    if (!product.has_edges() || product.pairs() == 0) return 1;
    const std::int64_t size = product.size();
    double* row = product.room(walks::gradient_vectors + 3, scratch);
    walks::Gradients gradients(product, scale, row);
    double* x = row + product.width() + walks::gradient_vectors * size;
    double *tried = x + size, *next = tried + size;
    std::fill(x, x + size, 0.0);
    for (std::int64_t left = walks::most_steps(product); left > 0; --left) {
        if (!(gradients.step(x) > 0) || scratch.stopped(3 * product.work())) return -1;
        product.apply(x, tried, row);
        for (std::int64_t k = 0; k < size; ++k) tried[k] = 1 + scale * tried[k];
        product.apply(tried, next, row);
        double least = 1;
        for (std::int64_t k = 0; k < size; ++k)
            least = std::min(least, tried[k] > 0 ? 1 - scale * next[k] / tried[k] : -1.0);
        if (least > WalkGraphs::least_margin) return least;
    }
    return -1;
}

void check(const NodeTasks& tasks, std::int64_t lefts, std::int64_t rights,
           const std::function<bool(std::size_t)>& fits) {
    const std::size_t count = tasks.lefts.size();
    if (tasks.rights.size() != count || tasks.starts.size() != count ||
        tasks.strides.size() != count)
        throw std::invalid_argument("node job: there must be as many of each for all pairs.");
    for (std::size_t p = 0; p < count; ++p) {
        const bool known = tasks.lefts[p] >= 0 && tasks.lefts[p] < lefts && tasks.rights[p] >= 0 &&
                           tasks.rights[p] < rights;
        if (!known) throw std::out_of_range("node job: there is no such graph.");
        if (!fits(p)) throw std::out_of_range("node job: there must be a number for all nodes.");
    }
}

}  // namespace

bool NodeJob::store(const NodeTasks& tasks, double* out, const Poll& poll) const {
    check(tasks, lefts(), rights(), [&](std::size_t p) {
        return is_within(tasks, p, left_nodes(tasks.lefts[p]), right_nodes(tasks.rights[p]));
    });
    const auto run = [&](std::int64_t p, Scratch& scratch) {
        return value(tasks.lefts[at(p)], tasks.rights[at(p)], tasks.of(p), scratch);
    };
    return for_each(tasks.size(), run, out, poll);
}

PathLists::PathLists(const Graphs& graphs, const std::uint64_t* codes, const double* weights,
                     const Poll& poll) {
    check_graphs(graphs);
    check_lengths(graphs, weights);
    node_ends_.assign(graphs.node_ends, graphs.node_ends + graphs.count + 1);
    codes_.assign(codes, codes + graphs.nodes);
    lengths_.resize(at(graphs.count));
    std::vector<PathSearch> searches(at(num_threads()), PathSearch(graphs, weights));
    parallel_for(
        graphs.count,
        [&](std::int64_t g, int worker) {
            PathSearch& search = searches[at(worker)];
            search.enter(g);
            lengths_[at(g)] = lists(search, node_ends_[at(g)], node_ends_[at(g + 1)], worker);
        },
        poll);
}

double NodePaths::value(std::int64_t i, std::int64_t j, NodeValues nodes, Scratch& scratch) const {
    const std::int64_t rows = left_.nodes(i), columns = right_.nodes(j);
    scratch.numbers.resize(at((rows + 1) * columns));
    double* const known = scratch.numbers.data();
    double* const sums = known + rows * columns;
    for (std::int64_t u = 0; u < rows; ++u)
        for (std::int64_t v = 0; v < columns; ++v)
            known[u * columns + v] = left_.codes(i)[u] == right_.codes(j)[v] ? nodes(u, v) : 0.0;
    double total = 0;
    auto a = left_.lengths(i).begin(), b = right_.lengths(j).begin();
    while (a != left_.lengths(i).end() && b != right_.lengths(j).end()) {
        if (a->length < b->length) {
            ++a;
        } else if (b->length < a->length) {
            ++b;
        } else {
            total += meetings(a->paths, b->paths, known, columns, sums);
            const auto work = static_cast<std::int64_t>(a->paths.size()) * columns +
                              rows * static_cast<std::int64_t>(b->paths.size());
            if (scratch.stopped(work)) break;
            ++a, ++b;
        }
    }
    return total;
}

NodeWalks::NodeWalks(const WalkGraphs& left, const WalkGraphs& right, std::int64_t steps)
    : left_(left), right_(right), steps_(steps) {
    if (left.is_merged() || right.is_merged())
        throw std::invalid_argument("NodeWalks: every node must be kept.");
    if (steps < endless) throw std::invalid_argument("NodeWalks: steps must not be negative.");
}

double NodeWalks::value(std::int64_t i, std::int64_t j, NodeValues nodes, Scratch& scratch) const {
    const walks::Product product(left_, i, right_, j);
    const Weighed weighed(product, nodes, scratch);
    return steps_ == endless ? walks::geometric(weighed, scratch)
                             : walks::finite(weighed, steps_, scratch);
}

bool NodeWalks::margins(const NodeTasks& tasks, double scale, double* out, const Poll& poll) const {
    check(tasks, lefts(), rights(), [&](std::size_t p) {
        return is_within(tasks, p, left_nodes(tasks.lefts[p]), right_nodes(tasks.rights[p]));
    });
    const auto run = [&](std::int64_t p, Scratch& scratch) {
        const walks::Product product(left_, tasks.lefts[at(p)], right_, tasks.rights[at(p)]);
        return margin(Weighed(product, tasks.of(p), scratch), scale, scratch);
    };
    return for_each(tasks.size(), run, out, poll);
}

}  // namespace mercer
