// The last digits of a box problem, where pairs have all but found them. Used by smo.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solvers/factor.hpp"
#include "solvers/smo.hpp"

namespace mercer {
namespace {

// Moves b to where variables between their bounds have equal slopes, by equations instead of pairs.
//
// Variables are measured from the base of their side, which keeps the sum that is given; `members`
// are those between their bounds whose images do not depend on one another. Each move goes to the
// minimum along its line or to the first bound, so the objective never rises.
// Scheinberg, "An efficient implementation of an active set method for SVMs" (2006).
template <class T>
class Polish {
public:
    Polish(const Square<T>& K, const BoxProblem& problem, const double* linear, double* b,
           double* g, Factor& factor)
        : n_(K.size), K_(K), problem_(problem), linear_(linear), b_(b), g_(g), factor_(factor) {
        side_.assign(count(n_), 1);
        roots_.resize(count(n_));
        for (std::int64_t i = 0; i < n_; ++i)
            roots_[count(i)] = std::sqrt(std::abs(static_cast<double>(K.diagonal[count(i)])));
        padded_.assign(count(K.width), 0.0);
    }

    // rounding: of sums, against their terms. most: members at most.
    Polished run(double rounding, std::int64_t most, const Poll& poll) {
        rounding_ = rounding;
        sum_anew();
        const double before = objective();
        const std::vector<double> old(b_, b_ + n_);
        const bool found = start(most) && search(poll);
        const double terms = std::abs(before) + std::abs(objective());
        if (!(objective() <= before + 16 * rounding_ * terms)) {  // rounding has misled it
            std::copy(old.begin(), old.end(), b_);
            sum_anew();
        }
        const double all = violation(0.0), beyond = violation(1.0);
        return {found && beyond == 0, all, all - beyond};
    }

private:
    static constexpr double dependent = 1e-12;  // of a squared length: what may be rounding
    static constexpr int changes = 64;          // variables that may enter
    static constexpr int repeats = 3;           // whole steps without a new member
    static constexpr double infinity_ = std::numeric_limits<double>::infinity();

    static std::size_t count(std::int64_t i) { return static_cast<std::size_t>(i); }
    double entry(std::int64_t i, std::int64_t j) const { return static_cast<double>(K_.row(i)[j]); }

    // --- levels -------------------------------------------------------------------------------

    int part(std::int64_t i) const { return problem_.split && side_[count(i)] < 0 ? 1 : 0; }
    std::int64_t base(std::int64_t i) const { return bases_[part(i)]; }
    double level(std::int64_t i) const { return g_[i] + side_[count(i)] * problem_.kink; }
    double top(std::int64_t i) const { return side_[count(i)] > 0 ? problem_.upper[i] : 0.0; }
    double bottom(std::int64_t i) const { return side_[count(i)] > 0 ? 0.0 : problem_.lower[i]; }

    // How much higher the level of a variable is than that of its base.
    double uneven(std::int64_t i) const {
        return problem_.offset ? level(i) - level(base(i)) : level(i);
    }

    // The product of two images, each measured from its base.
    double between(std::int64_t i, std::int64_t j) const {
        if (!problem_.offset) return entry(i, j);
        const std::int64_t r = base(i), s = base(j);
        return (entry(i, j) - entry(i, s)) - (entry(r, j) - entry(r, s));
    }

    double least_pivot(std::int64_t i) const {
        const double other = problem_.offset ? roots_[count(base(i))] : 0.0;
        return dependent * (roots_[count(i)] * roots_[count(i)] + other * other);
    }

    // g = K b + linear.
    void sum_anew() {
        rows_.clear();
        weights_.clear();
        std::copy_n(linear_, n_, padded_.begin());
        length_ = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (b_[i] == 0) continue;
            rows_.push_back(K_.row(i));
            weights_.push_back(b_[i]);
            length_ += roots_[count(i)] * std::abs(b_[i]);
        }
        kernels<T>().add_rows(K_.width, rows_.data(), weights_.data(),
                              static_cast<std::int64_t>(rows_.size()), padded_.data());
        std::copy_n(padded_.begin(), n_, g_);
        spread_ = rounding_ * std::max(1.0, std::sqrt(static_cast<double>(rows_.size())) / 4);
    }

    double objective() const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            sum += b_[i] * (g_[i] + linear_[i]) / 2 + problem_.kink * std::abs(b_[i]);
        return sum;
    }

    // By how much rounding may change g: errors of m terms add up to some sqrt(m) of one.
    double unsure(std::int64_t i) const {
        return spread_ * (roots_[count(i)] * length_ + std::abs(linear_[i]));
    }

    // --- members ------------------------------------------------------------------------------

    bool start(std::int64_t most) {
        members_.clear();
        for (std::int64_t i = 0; i < n_; ++i)
            if (b_[i] > problem_.lower[i] && b_[i] < problem_.upper[i] && b_[i] != 0) {
                side_[count(i)] = b_[i] > 0 ? 1 : -1;
                members_.push_back(i);
            }
        if (static_cast<std::int64_t>(members_.size()) > most) return false;
        bases_[0] = bases_[1] = -1;
        for (int side = 0; problem_.offset && side < (problem_.split ? 2 : 1); ++side)
            take_base(side);
        factor_members();
        return true;
    }

    // Makes the member with the most room a base, of those whose images are as short as any:
    // measured from these no other loses digits.
    void take_base(int side) {
        double shortest = infinity_, widest = -1;
        for (const std::int64_t i : members_)
            if (part(i) == side) shortest = std::min(shortest, roots_[count(i)]);
        bases_[side] = -1;
        for (const std::int64_t i : members_) {
            if (part(i) != side || roots_[count(i)] > 2 * shortest) continue;
            const double room = std::min(b_[i] - bottom(i), top(i) - b_[i]);
            if (room > widest) {
                widest = room;
                bases_[side] = i;
            }
        }
        std::erase(members_, bases_[side]);
    }

    void factor_members() {
        const auto size = static_cast<std::int64_t>(members_.size());
        factor_.start(size);
        std::vector<double> least(count(size));
        for (std::int64_t i = 0; i < size; ++i) {
            double* row = factor_.row(i);
            const std::int64_t own = members_[count(i)];
            for (std::int64_t j = i; j < size; ++j) row[j] = between(own, members_[count(j)]);
            least[count(i)] = least_pivot(own);
        }
        const auto kept = factor_.decompose(least);
        for (std::size_t i = 0; i < kept.size(); ++i) members_[i] = members_[count(kept[i])];
        members_.resize(kept.size());
    }

    // Lets variables go that met a bound.
    void drop(const std::vector<std::int64_t>& gone) {
        bool anew = false;
        for (const std::int64_t i : gone) {
            const auto found = std::find(members_.begin(), members_.end(), i);
            if (found != members_.end()) {
                factor_.remove(found - members_.begin());
                members_.erase(found);
            }
            for (int side = 0; side < 2; ++side)
                if (bases_[side] == i) {
                    bases_[side] = -1;
                    anew = true;
                }
        }
        if (!anew) return;
        for (int side = 0; side < (problem_.split ? 2 : 1); ++side)
            if (bases_[side] < 0) take_base(side);
        factor_members();
    }

    // --- moving -------------------------------------------------------------------------------

    // Goes along a line as far as `wanted`, or to the first bound; returns how far, and who met a
    // bound. change: of the members, and then of `extra` (-1: none); the bases keep the sums.
    double move(const std::vector<double>& change, std::int64_t extra, double wanted,
                std::vector<std::int64_t>& gone) {
        moving_ = members_;
        if (extra >= 0) moving_.push_back(extra);
        changes_ = change;
        if (problem_.offset) {
            double sums[2] = {0, 0};
            for (std::size_t m = 0; m < moving_.size(); ++m) sums[part(moving_[m])] += change[m];
            for (int side = 0; side < 2; ++side)
                if (bases_[side] >= 0) {
                    moving_.push_back(bases_[side]);
                    changes_.push_back(-sums[side]);
                }
        }
        double step = wanted;
        for (std::size_t m = 0; m < moving_.size(); ++m) step = std::min(step, reach(m));
        gone.clear();
        if (step == infinity_) return step;
        for (std::size_t m = 0; m < moving_.size(); ++m) {
            const std::int64_t i = moving_[m];
            if (changes_[m] != 0 && reach(m) <= step) {
                b_[i] = changes_[m] > 0 ? top(i) : bottom(i);
                gone.push_back(i);
            } else {
                b_[i] = std::clamp(b_[i] + step * changes_[m], bottom(i), top(i));
            }
        }
        return step;
    }

    // How far a variable can go along the line.
    double reach(std::size_t m) const {
        const std::int64_t i = moving_[m];
        const double change = changes_[m];
        if (change == 0) return infinity_;
        return change > 0 ? (top(i) - b_[i]) / change : (b_[i] - bottom(i)) / -change;
    }

    // Moves the members to where their levels are equal; false if it comes to no end.
    bool settle() {
        std::vector<double> heights;
        std::vector<std::int64_t> gone;
        std::vector<double> change(members_.size());
        for (std::size_t m = 0; m < members_.size(); ++m) change[m] = -uneven(members_[m]);
        while (!members_.empty()) {
            heights = change;
            factor_.forward(change.data());
            factor_.backward(change.data());
            for (const double value : change)
                if (!std::isfinite(value)) return false;
            const double step = move(change, -1, 1.0, gone);
            if (gone.empty()) break;
            // What is left of the heights, measured from what the bases will be.
            left_.assign(count(n_), 0.0);
            for (std::size_t m = 0; m < members_.size(); ++m)
                left_[count(members_[m])] = (1 - step) * heights[m];
            drop(gone);
            change.resize(members_.size());
            for (std::size_t m = 0; m < members_.size(); ++m) {
                const std::int64_t i = members_[m];
                const double other = problem_.offset ? left_[count(base(i))] : 0.0;
                change[m] = left_[count(i)] - other;
            }
        }
        sum_anew();
        return true;
    }

    // Lets the variable that promises most enter, again and again, until none does.
    bool search(const Poll& poll) {
        double last = infinity_;
        int repeated = 0;
        for (int change = 0; change < changes; ++change) {
            if (!settle()) return false;
            const double violation = this->violation(1.0);
            if (violation == 0) return true;
            const std::int64_t next = entering();
            if (next >= 0) {
                if (!enter(next)) return false;
                repeated = 0;
            } else if (++repeated > repeats || violation >= last) {
                return false;
            }
            last = violation;
            if (poll && change % 8 == 7 && poll()) return false;
        }
        return false;
    }

    // By how much b misses the conditions of an optimum, beyond so many times rounding.
    double violation(double times) const {
        double worst = 0;
        double low[2] = {infinity_, infinity_}, high[2] = {-infinity_, -infinity_};
        for (std::int64_t i = 0; i < n_; ++i) {
            const double own = times * unsure(i);
            if (b_[i] < problem_.upper[i]) {
                const int side = problem_.split && b_[i] < 0 ? 1 : 0;
                const double kink = b_[i] >= 0 ? problem_.kink : -problem_.kink;
                low[side] = std::min(low[side], g_[i] + kink + own);
            }
            if (b_[i] > problem_.lower[i]) {
                const int side = problem_.split && b_[i] <= 0 ? 1 : 0;
                const double kink = b_[i] > 0 ? problem_.kink : -problem_.kink;
                high[side] = std::max(high[side], g_[i] + kink - own);
            }
        }
        if (!problem_.offset) return std::max({0.0, -low[0], high[0]});
        for (int side = 0; side < 2; ++side)
            if (low[side] < infinity_ && high[side] > -infinity_)
                worst = std::max(worst, high[side] - low[side]);
        return worst;
    }

    // The variable that wants to move most, with `side_` and `way_` set as it wants; -1: none.
    std::int64_t entering() {
        std::int64_t best = -1;
        double most = 0;
        signed char side = 1;
        std::vector<char> taken(count(n_), 0);
        for (const std::int64_t i : members_) taken[count(i)] = 1;
        for (const std::int64_t i : bases_)
            if (i >= 0) taken[count(i)] = 1;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (taken[count(i)]) continue;
            for (const int way : {1, -1}) {
                if (way > 0 ? b_[i] >= problem_.upper[i] : b_[i] <= problem_.lower[i]) continue;
                const signed char old = side_[count(i)];
                side_[count(i)] = (way > 0 ? b_[i] >= 0 : b_[i] > 0) ? 1 : -1;
                if (!problem_.offset || base(i) >= 0) {
                    const double own = (unsure(i) + (problem_.offset ? unsure(base(i)) : 0.0)) / 4;
                    const double want = -way * uneven(i) - own;
                    if (want > most) {
                        most = want;
                        best = i;
                        way_ = way;
                        side = side_[count(i)];
                    }
                }
                side_[count(i)] = old;
            }
        }
        if (best >= 0) side_[count(best)] = side;
        return best;
    }

    // Moves a variable, the levels of the members staying equal, until its own fits or it meets a
    // bound; false if there is no end to it.
    bool enter(std::int64_t variable) {
        double height = uneven(variable);
        std::vector<std::int64_t> gone;
        std::vector<double> column, change;
        while (true) {
            column.resize(members_.size());
            for (std::size_t m = 0; m < members_.size(); ++m)
                column[m] = between(members_[m], variable);
            factor_.forward(column.data());
            double distance = between(variable, variable);
            for (const double x : column) distance -= x * x;
            change = column;
            factor_.backward(change.data());
            for (double& x : change) x *= -way_;
            change.push_back(way_);
            const bool apart = distance > least_pivot(variable);
            const double floor = least_pivot(variable) * rounding_ / dependent;
            const double curvature = std::max(distance, floor);
            const double wanted = -way_ * height / curvature;
            if (!(wanted > 0)) return true;
            const double step = move(change, variable, wanted, gone);
            if (step == infinity_) return false;
            if (gone.empty()) {
                if (apart) {
                    factor_.append(column, std::sqrt(distance));
                    members_.push_back(variable);
                }
                break;
            }
            height += way_ * step * distance;
            drop(gone);  // a new base has the level of the old one
            if (std::find(gone.begin(), gone.end(), variable) != gone.end()) break;
            if (problem_.offset && base(variable) < 0) break;
        }
        sum_anew();
        return true;
    }

    std::int64_t n_;
    const Square<T>& K_;
    BoxProblem problem_;
    const double* linear_;
    double* b_;
    double* g_;
    Factor& factor_;
    double rounding_ = 0, spread_ = 0, length_ = 0;
    int way_ = 1;
    std::int64_t bases_[2] = {-1, -1};
    std::vector<signed char> side_;  // of 0, on which a variable moves
    std::vector<double> roots_, padded_, weights_, left_, changes_;
    std::vector<const T*> rows_;
    std::vector<std::int64_t> members_, moving_;
};

}  // namespace
}  // namespace mercer
