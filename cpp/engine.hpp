// The tile engine: kernel matrices from panels of points, statistics and a program.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pool.hpp"
#include "tile.hpp"

namespace mercer {

// The table for the instruction set in use.
template <class T>
const Kernels<T>& kernels();

template <class T>
struct Free {
    void operator()(T* p) const;
};

// Numbers on a cache line boundary.
template <class T>
using Aligned = std::unique_ptr<T[], Free<T>>;

template <class T>
Aligned<T> aligned(std::int64_t count);

// Points packed for the engine, with centre and scale applied in double precision.
template <class T>
class Panels {
public:
    // x: rows x columns, rows `stride` numbers apart. centre, scale: one number a column, or null.
    template <class Source>
    Panels(const Source* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
           const double* centre, const double* scale);

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    std::int64_t panels() const { return panels_; }
    std::int64_t bytes() const;
    const T* panel(std::int64_t p) const { return data_.get() + p * columns_ * width_; }
    const T* norms() const { return norms_.data(); }               // |x|^2, padded with 0
    double largest(std::int64_t p) const { return largest_[static_cast<std::size_t>(p)]; }
    bool missing() const { return !missing_.empty(); }             // any NaN
    const std::vector<std::int64_t>& missing_rows() const { return missing_; }

private:
    template <class Source>
    void pack(std::int64_t p, const Source* x, std::int64_t stride, const double* centre,
              const double* scale);

    std::int64_t rows_, columns_, width_, panels_;
    Aligned<T> data_;
    std::vector<T> norms_;
    std::vector<double> largest_;
    std::vector<std::int64_t> missing_;
};

// One statistic of the points.
template <class T>
struct Term {
    Statistic statistic;
    std::shared_ptr<const Panels<T>> left, right;
    std::vector<T> weights;  // for `unequal`
    // For squared distances: expand them where rounding, times this factor, stays below the
    // tolerance; 0 never expands.
    double factor;
};

// A block computed elsewhere, rows `stride` numbers apart.
template <class T>
struct External {
    const T* values;
    std::int64_t stride;
};

template <class T>
class Job {
public:
    // left_vectors, right_vectors: one pointer to `rows` (`columns`) numbers each.
    // Throws std::invalid_argument on a program that does not fit.
    Job(std::int64_t rows, std::int64_t columns, bool same_points, std::vector<Term<T>> terms,
        std::vector<Instruction> program, std::vector<std::vector<T>> left_vectors,
        std::vector<std::vector<T>> right_vectors, std::vector<External<T>> externals);

    // out[i][j] = K(i, j); of the same points, half is computed and mirrored.
    bool store(T* out, std::int64_t stride, const Poll& poll) const;

    // out = K v; v: columns x count, out: rows x count, in double precision, row by row.
    bool multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const;

private:
    struct Scratch;
    struct Block {
        std::int64_t row, column, rows, columns;  // in points; the first two start a panel
    };

    // upper: what lies below the diagonal of the whole matrix may be left undefined.
    const T* evaluate(const Block& block, bool upper, Scratch& scratch) const;
    void statistics(const Block& block, bool upper, Scratch& scratch) const;
    void store_at_diagonal(const Block& block, const T* values, T* out, std::int64_t stride) const;
    bool expands(const Term<T>& term, const Block& block) const;
    std::vector<Scratch> scratches() const;

    std::int64_t rows_, columns_;
    bool same_points_;
    std::vector<Term<T>> terms_;
    std::vector<Instruction> program_;
    std::vector<std::vector<T>> left_, right_;
    std::vector<External<T>> externals_;
    std::int64_t tile_rows_, tile_columns_;
};

}  // namespace mercer
