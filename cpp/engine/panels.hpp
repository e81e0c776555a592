// Points packed for the engine, and the memory they are packed into.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/tile.hpp"

namespace mercer {

// The table for the instruction set in use.
template <class T>
const Kernels<T>& kernels();

inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

template <class T>
struct Free {
    void operator()(T* p) const;
};

// Numbers on a cache line boundary.
template <class T>
using Aligned = std::unique_ptr<T[], Free<T>>;

template <class T>
Aligned<T> aligned(std::int64_t count);

// Rows of numbers, `stride` apart.
template <class Number>
struct DenseRows {
    const Number* values;
    std::int64_t rows, columns, stride;

    void check() const;
    void read(std::int64_t i, double* row) const;
};

// Compressed sparse rows: the numbers of row i are values[starts[i]] ... values[starts[i + 1] - 1],
// in the columns that `places` names; numbers in the same place are added.
template <class Number, class Index>
struct SparseRows {
    const Number* values;
    const Index* places;
    const Index* starts;
    std::int64_t rows, columns, stored;

    void check() const;
    void read(std::int64_t i, double* row) const;
};

// Points packed for the engine, with centre and scale applied in double precision.
template <class T>
class Panels {
public:
    // centre, scale: one number per column, or null. Throws std::invalid_argument on rows that do
    // not hold together.
    template <class Source>
    Panels(const Source& source, const double* centre, const double* scale);

    // Some rows of others, already packed.
    Panels(const Panels& others, const std::int64_t* chosen, std::int64_t count);

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
    void make_room();

    template <class Source>
    void pack(std::int64_t p, const Source& source, const double* centre, const double* scale);

    std::int64_t rows_, columns_, width_, panels_;
    Aligned<T> data_;
    std::vector<T> norms_;
    std::vector<double> largest_;
    std::vector<std::int64_t> missing_;
};

}  // namespace mercer
