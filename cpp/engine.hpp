// The tile engine: kernel matrices from panels of points, statistics and programs.
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
    const T* norms() const { return norms_.data(); }  // |x|^2, padded with 0
    double largest(std::int64_t p) const { return largest_[static_cast<std::size_t>(p)]; }
    bool missing() const { return !missing_.empty(); }  // any NaN
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

// Part of a matrix, in points; it starts where a panel starts.
struct Block {
    std::int64_t row, column, rows, columns;
};

template <class T>
class Job {
public:
    // left_vectors, right_vectors: one pointer to `rows` (`columns`) numbers each.
    // Throws std::invalid_argument on a program that does not fit.
    Job(std::int64_t rows, std::int64_t columns, bool same_points, std::vector<Term<T>> terms,
        std::vector<std::vector<Instruction>> programs, std::vector<std::vector<T>> left_vectors,
        std::vector<std::vector<T>> right_vectors, std::vector<External<T>> externals);

    // The matrix of each program, from the same statistics, row by row; of the same points, half is
    // computed and mirrored.
    bool store(const std::vector<T*>& outs, const Poll& poll) const;

    // out = K v with the first program; v: columns x count, out: rows x count, in double precision,
    // row by row.
    bool multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const;

    // The `count` columns of each row with the smallest shift - 2 K, or with the largest K where
    // shift is null: best first, of equal ones the smaller column first. Both outputs: rows x
    // count; keys holds what was compared.
    bool top(std::int64_t count, const double* shift, std::int64_t* columns, double* keys,
             const Poll& poll) const;

    struct Scratch {
        std::vector<Aligned<T>> tiles;  // one for each statistic
        Aligned<T> registers;
        Aligned<T> values;  // the kernel values of the tile
        std::vector<bool> finished;
    };

    std::int64_t rows() const { return rows_; }
    std::int64_t tile_rows() const { return tile_rows_; }
    std::int64_t tile_columns() const { return tile_columns_; }
    bool same_points() const { return same_points_; }
    std::vector<Block> block_list() const;
    std::vector<Scratch> scratches() const;

    // The values of a block, rows tile_columns() apart; they stand until the scratch is used again.
    // upper: what lies below the diagonal of the whole matrix may be left undefined.
    const T* evaluate(const Block& block, bool upper, Scratch& scratch) const;

private:
    void statistics(const Block& block, bool upper, Scratch& scratch) const;
    const T* values(const std::vector<Instruction>& program, const Block& block,
                    Scratch& scratch) const;
    void store_block(const Block& block, const T* values, T* out) const;
    void store_at_diagonal(const Block& block, const T* values, T* out) const;
    void check(const Instruction& step) const;
    bool expands(const Term<T>& term, const Block& block) const;

    std::int64_t rows_, columns_;
    bool same_points_;
    std::vector<Term<T>> terms_;
    std::vector<std::vector<Instruction>> programs_;
    std::vector<std::vector<T>> left_, right_;
    std::vector<External<T>> externals_;
    std::int64_t tile_rows_, tile_columns_;
};

// A symmetric matrix kept as the blocks on and above its diagonal, about half of its numbers.
template <class T>
class Packed {
public:
    // narrow: keep 16 bits of each number, between the smallest and the largest of its block.
    Packed(const Job<T>& job, bool narrow, const Poll& poll);

    bool complete() const { return complete_; }  // false: stopped by `poll`
    std::int64_t size() const { return n_; }
    std::int64_t bytes() const;
    double error() const;  // what narrow numbers may be off by
    bool multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const;
    // out: count x size, whole rows. Throws std::invalid_argument on a row that does not exist.
    void rows(const std::int64_t* chosen, std::int64_t count, T* out) const;

private:
    using Scratch = typename Job<T>::Scratch;
    void keep(std::int64_t task, const Block& block, const T* values);
    std::int64_t first_kept(const Block& block, std::int64_t i) const;
    const T* block_values(std::int64_t task, T* room) const;
    std::vector<Aligned<T>> rooms() const;
    void copy_row(const Block& block, const T* values, std::int64_t point, T* row) const;

    std::int64_t n_, tile_rows_, tile_columns_;
    std::vector<Block> blocks_;
    Aligned<T> values_;             // either these,
    Aligned<std::uint16_t> codes_;  // or these with the two numbers of each block
    std::vector<T> low_, step_;
    bool complete_ = false;
};

}  // namespace mercer
