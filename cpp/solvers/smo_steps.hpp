// Steps of two variables, or of one, on a part of a problem. Used by smo.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/smo.hpp"

namespace mercer {
namespace {

constexpr std::int64_t part_size = 256;  // variables whose part of K stays in the nearest cache
constexpr std::int64_t steps_each = 4;
constexpr std::int64_t line = 16;  // numbers in a cache line
constexpr double infinity = std::numeric_limits<double>::infinity();

// One direction of change, of the variables on one side: those that may rise, and fall, and what
// the kink adds to their slope (infinite where they may not).
struct Side {
    std::vector<double> up, down;
};

// The part of a square between some of its variables.
template <class T>
Square<T> among(const Square<T>& all, const std::vector<std::int64_t>& chosen) {
    Square<T> part;
    part.resize(static_cast<std::int64_t>(chosen.size()));
    part.diagonal.assign(static_cast<std::size_t>(part.width), T(1));
    for (std::int64_t i = 0; i < part.size; ++i) {
        const T* from = all.row(chosen[static_cast<std::size_t>(i)]);
        T* row = part.values.get() + i * part.width;
        for (std::int64_t j = 0; j < part.size; ++j)
            row[j] = from[chosen[static_cast<std::size_t>(j)]];
        part.diagonal[static_cast<std::size_t>(i)] = row[i];
    }
    return part;
}

template <class T>
class Smo {
public:
    Smo(const Square<T>& K, const BoxProblem& problem, double* b, const double* g)
        : n_(K.size), width_(K.width), problem_(problem), b_(b), K_(K), diagonal_(K.diagonal) {
        g_.assign(static_cast<std::size_t>(width_), 0.0);
        std::copy_n(g, n_, g_.begin());
        sides_.resize(problem.split ? 2 : 1);
        for (auto& side : sides_) {
            side.up.assign(static_cast<std::size_t>(width_), infinity);
            side.down.assign(static_cast<std::size_t>(width_), -infinity);
        }
        for (std::int64_t i = 0; i < n_; ++i) settle(i);
    }

    SmoResult run(double tol, std::int64_t max_iterations, const Poll& poll) {
        const std::int64_t between_polls = std::max<std::int64_t>(4'000'000 / width_, 1);
        SmoResult result{Ended::iterations, 0, infinity};
        next_ = kernels<T>().least(width_, g_.data(), sides_[0].up.data());
        for (; result.iterations < max_iterations; ++result.iterations) {
            if (poll && result.iterations % between_polls == between_polls - 1 && poll()) {
                result.ended = Ended::stopped;
                break;
            }
            const Pair pair = problem_.split ? best_of_sides() : choose();
            result.violation = pair.violation;
            if (!(pair.violation > tol) || pair.rising < 0) {
                result.ended = Ended::converged;
                break;
            }
            if (!step(pair)) {
                result.ended = Ended::unbounded;
                break;
            }
        }
        return result;
    }

    // The same for many variables: a few that violate the conditions most at a time, which stay in
    // the nearest cache, until all satisfy them.
    SmoResult run_by_parts(double tol, std::int64_t max_iterations, const Poll& poll) {
        SmoResult result{Ended::iterations, 0, infinity};
        std::vector<std::int64_t> kept;
        while (result.iterations < max_iterations) {
            if (poll && poll()) {
                result.ended = Ended::stopped;
                break;
            }
            result.violation = violation();
            if (!(result.violation > tol)) {
                result.ended = Ended::converged;
                break;
            }
            const auto chosen = choose_part(kept);
            const double wanted = std::max(tol, result.violation / 10);
            const SmoResult part =
                run_part(chosen, wanted, max_iterations - result.iterations, poll);
            result.iterations += std::max<std::int64_t>(part.iterations, 1);
            if (part.ended == Ended::unbounded || part.ended == Ended::stopped) {
                result.ended = part.ended;
                break;
            }
        }
        return result;
    }

    void gradient(double* g) const { std::copy_n(g_.begin(), n_, g); }

private:
    // How much variable i wants to rise (fall) on a side.
    double rising(const Side& side, std::size_t i) const { return -(g_[i] + side.up[i]); }
    double falling(const Side& side, std::size_t i) const { return g_[i] + side.down[i]; }

    double violation() const {
        double worst = -infinity;
        for (const Side& side : sides_) {
            double up = -infinity, down = -infinity;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
                up = std::max(up, rising(side, i));
                down = std::max(down, falling(side, i));
            }
            worst = std::max(worst, problem_.offset ? up + down : std::max(up, down));
        }
        return worst;
    }

    // The variables that want to change most, and those of the last part.
    std::vector<std::int64_t> choose_part(std::vector<std::int64_t>& kept) const {
        std::vector<char> taken(static_cast<std::size_t>(n_), 0);
        for (const std::int64_t i : kept) taken[static_cast<std::size_t>(i)] = 1;
        std::vector<std::int64_t> fresh;
        const auto room = (part_size - static_cast<std::int64_t>(kept.size())) /
                          static_cast<std::int64_t>(2 * sides_.size());
        std::vector<std::pair<double, std::int64_t>> wants;
        for (const Side& side : sides_)
            for (const bool up : {true, false}) {
                wants.clear();
                for (std::int64_t i = 0; i < n_; ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    const double want = up ? rising(side, at) : falling(side, at);
                    if (!taken[at] && want > -infinity) wants.emplace_back(-want, i);
                }
                const auto count = std::min(room, static_cast<std::int64_t>(wants.size()));
                std::nth_element(wants.begin(), wants.begin() + count, wants.end());
                for (std::int64_t w = 0; w < count; ++w) {
                    fresh.push_back(wants[static_cast<std::size_t>(w)].second);
                    taken[static_cast<std::size_t>(fresh.back())] = 1;
                }
            }
        std::vector<std::int64_t> chosen = fresh;
        chosen.insert(chosen.end(), kept.begin(), kept.end());
        kept.assign(fresh.begin(),
                    fresh.begin() + std::min<std::ptrdiff_t>(
                                        static_cast<std::ptrdiff_t>(fresh.size()), part_size / 2));
        return chosen;
    }

    SmoResult run_part(const std::vector<std::int64_t>& chosen, double tol,
                       std::int64_t max_iterations, const Poll& poll) {
        const std::size_t size = chosen.size();
        std::vector<double> lower(size), upper(size), b(size), g(size);
        for (std::size_t c = 0; c < size; ++c) {
            const std::int64_t i = chosen[c];
            lower[c] = problem_.lower[i];
            upper[c] = problem_.upper[i];
            b[c] = b_[i];
            g[c] = g_[static_cast<std::size_t>(i)];
        }
        BoxProblem problem = problem_;
        problem.lower = lower.data();
        problem.upper = upper.data();
        const Square<T> square = among(K_, chosen);
        Smo part(square, problem, b.data(), g.data());
        const SmoResult result = part.run(tol, max_iterations, poll);
        std::vector<const T*> rows;
        std::vector<double> changes;
        for (std::size_t c = 0; c < size; ++c) {
            const std::int64_t i = chosen[c];
            if (b[c] == b_[i]) continue;
            rows.push_back(row(i));
            changes.push_back(b[c] - b_[i]);
            b_[i] = b[c];
            settle(i);
        }
        kernels<T>().add_rows(width_, rows.data(), changes.data(),
                              static_cast<std::int64_t>(rows.size()), g_.data());
        return result;
    }

    // One variable to rise and one to fall, either of which may be missing (-1) without an offset.
    struct Pair {
        std::int64_t rising, falling;
        double slope, violation, gain;
    };

    double& b(std::int64_t i) { return b_[i]; }
    const T* row(std::int64_t i) const { return K_.row(i); }
    double own(std::int64_t i) const {
        return static_cast<double>(diagonal_[static_cast<std::size_t>(i)]);
    }

    // Notes in which directions variable i may move. At 0 the slope jumps, and the side changes.
    void settle(std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = b(i);
        Side& above = sides_.front();
        Side& below = sides_.back();
        above.up[at] = below.up[at] = infinity;
        above.down[at] = below.down[at] = -infinity;
        if (value < problem_.upper[i])
            (value >= 0 ? above : below).up[at] = value >= 0 ? problem_.kink : -problem_.kink;
        if (value > problem_.lower[i])
            (value > 0 ? above : below).down[at] = value > 0 ? problem_.kink : -problem_.kink;
    }

    Pair choose_on(const Side& side, Chosen first) const {
        Pair pair{first.place, -1, 0, -infinity, 0};
        if (first.place < 0) return pair;
        double steepest = -infinity;
        const double slope = -first.value;
        const Chosen found =
            kernels<T>().partner(width_, row(first.place), diagonal_.data(), own(first.place),
                                 slope, g_.data(), side.down.data(), &steepest);
        pair.falling = found.place;
        pair.gain = found.value;
        pair.violation = steepest - slope;
        if (found.place < 0) return pair;
        const auto at = static_cast<std::size_t>(found.place);
        pair.slope = g_[at] + side.down[at] - slope;
        return pair;
    }

    Pair choose() {
        if (problem_.offset) return choose_on(sides_[0], next_);
        double steepest = -infinity;
        const Chosen found =
            kernels<T>().single(width_, diagonal_.data(), g_.data(), sides_[0].up.data(),
                                sides_[0].down.data(), &steepest);
        if (found.place < 0) return {-1, -1, 0, steepest, 0};
        const auto at = static_cast<std::size_t>(found.place);
        const double rising = -(g_[at] + sides_[0].up[at]);
        const double falling = g_[at] + sides_[0].down[at];
        return {found.place, -1, rising > falling ? rising : -falling, steepest, found.value};
    }

    Pair best_of_sides() {
        Pair best{-1, -1, 0, -infinity, 0};
        double violation = -infinity;
        for (const Side& side : sides_) {
            const Pair pair =
                choose_on(side, kernels<T>().least(width_, g_.data(), side.up.data()));
            violation = std::max(violation, pair.violation);
            if (pair.falling >= 0 && (best.falling < 0 || pair.gain > best.gain)) best = pair;
        }
        best.violation = violation;
        return best;
    }

    // How far variable i may rise (fall) until its bound or 0.
    double room_up(std::int64_t i) { return b(i) < 0 ? -b(i) : problem_.upper[i] - b(i); }
    double room_down(std::int64_t i) { return b(i) > 0 ? b(i) : b(i) - problem_.lower[i]; }

    void raise(std::int64_t i, double amount, bool whole) {
        b(i) = whole ? (b(i) < 0 ? 0.0 : problem_.upper[i]) : b(i) + amount;
    }
    void lower(std::int64_t i, double amount, bool whole) {
        b(i) = whole ? (b(i) > 0 ? 0.0 : problem_.lower[i]) : b(i) - amount;
    }

    bool step(const Pair& pair) {
        return pair.falling >= 0 ? step_of_two(pair) : step_of_one(pair);
    }

    bool step_of_two(const Pair& pair) {
        const std::int64_t i = pair.rising, j = pair.falling;
        const double both = own(i) + own(j), floor = least_curvature * std::abs(both);
        const double curvature = std::max(both - 2 * static_cast<double>(row(i)[j]), floor);
        const double up = room_up(i), down = room_down(j);
        const double wanted = curvature > 0 ? pair.slope / curvature : infinity;
        const double amount = std::min({wanted, up, down});
        if (curvature == floor && up == infinity && down == infinity) return false;
        raise(i, amount, amount >= up);
        lower(j, amount, amount >= down);
        settle(i);
        settle(j);
        next_ = kernels<T>().move(width_, row(i), amount, row(j), -amount, g_.data(),
                                  sides_[0].up.data());
        return true;
    }

    bool step_of_one(const Pair& pair) {
        const std::int64_t i = pair.rising;
        const bool rises = pair.slope > 0;
        const double room = rises ? room_up(i) : room_down(i);
        const double wanted = own(i) > 0 ? std::abs(pair.slope) / own(i) : infinity;
        const double amount = std::min(wanted, room);
        if (amount == infinity) return false;
        if (rises)
            raise(i, amount, amount >= room);
        else
            lower(i, amount, amount >= room);
        settle(i);
        kernels<T>().move(width_, row(i), rises ? amount : -amount, row(i), 0.0, g_.data(),
                          sides_[0].up.data());
        return true;
    }

    std::int64_t n_, width_;
    BoxProblem problem_;
    double* b_;
    const Square<T>& K_;
    const std::vector<T>& diagonal_;
    std::vector<double> g_;
    std::vector<Side> sides_;  // above and below 0, if they are apart
    Chosen next_{};
};

}  // namespace
}  // namespace mercer
