// Symmetric matrices of which half is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace mercer {

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
