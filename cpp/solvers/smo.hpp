// Box-constrained quadratic problems, two variables at a time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/panels.hpp"
#include "engine/tile.hpp"
#include "solvers/factor.hpp"
#include "system/pool.hpp"

namespace mercer {

// Rows of a kernel matrix in memory.
template <class T>
struct KernelRows {
    const T* values;
    std::int64_t rows, columns;
};

// min 1/2 b' K b + q' b + kink |b|_1 over lower <= b <= upper, lower <= 0 <= upper, and
//   offset: with the sum of b given;
//   split:  with the sum of the positive b and that of the negative b given;
//   else:   nothing more.
struct BoxProblem {
    const double* lower;
    const double* upper;
    double kink;
    bool offset, split;
};

enum class Ended { converged, iterations, stopped, unbounded };

struct SmoResult {
    Ended ended;
    std::int64_t iterations;
    double violation;  // of the conditions of an optimum, at the end
};

// What is left of the violation of a polished problem, and how much of it may be rounding; exact:
// all of it.
struct Polished {
    bool exact;
    double violation, rounding;
};

// Where rows of a part of a kernel matrix are read from: columns in runs, from the first one and so
// many.
template <class T>
struct Source {
    const T* values = nullptr;
    std::int64_t columns = 0;
    std::vector<std::int64_t> slots;
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;

    void read(std::int64_t i, T* row) const;
};

// The part of a kernel matrix between some variables, rows `width` apart and zeros at their ends.
// Rows that are `absent` are read when they are first asked for.
template <class T>
struct Square {
    Aligned<T> values;
    std::int64_t size = 0, width = 0, room = 0;
    Source<T> source;
    mutable std::vector<char> absent;
    std::vector<T> diagonal;

    void resize(std::int64_t variables);
    const T* row(std::int64_t i) const {
        T* found = values.get() + i * width;
        if (!absent.empty() && absent[static_cast<std::size_t>(i)]) {
            source.read(i, found);
            absent[static_cast<std::size_t>(i)] = 0;
        }
        return found;
    }
};

// Solves parts of a problem, one after another; what two of them share of K is read once.
template <class T>
class BlockSolver {
public:
    // Changes the chosen variables until they satisfy the conditions of an optimum up to `tol`, the
    // others standing still. The entry of K between chosen a and b is rows[slots[a]][columns[b]],
    // and K is symmetric. b, g = K b + q: of the chosen ones. kept: as many of the last ones were
    // the first ones before, in the same order. lazy: read rows when they are wanted; then nothing
    // less than all may be kept afterwards, and K stays as it is.
    // Fan, Chen, Lin, "Working set selection using second order information for training support
    // vector machines" (2005).
    SmoResult solve(const KernelRows<T>& K, const std::int64_t* slots, const std::int64_t* columns,
                    std::int64_t count, std::int64_t kept, const BoxProblem& problem, double* b,
                    double* g, double tol, std::int64_t max_iterations, const Poll& poll,
                    bool lazy = false);

    // Moves b of the problem solved last, and g with it, to the last digits of the optimum, and
    // returns whether these were reached. K: the same rows. linear: q;
    // rounding: of sums of products, against their terms; most: variables between their bounds at
    // most.
    Polished polish(const KernelRows<T>& K, const BoxProblem& problem, const double* linear,
                    double* b, double* g, std::int64_t count, double rounding, std::int64_t most,
                    const Poll& poll);

private:
    void read_block(std::int64_t kept);

    Square<T> square_, next_;  // two, so that their memory is used again
    Factor factor_;
};

// g += sum_r weights[r] K[slots[r]][columns], of `size` columns.
template <class T>
void add_rows(const KernelRows<T>& K, const std::int64_t* slots, const double* weights,
              std::int64_t count, const std::int64_t* columns, std::int64_t size, double* g);

}  // namespace mercer
