// Symmetric matrices of which half is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace mercer {

// A symmetric matrix kept as the blocks on and above its diagonal, about half of its numbers. Where
// not all of them fit, some are kept and the others computed anew in every product.
template <class T>
class Packed {
public:
    // narrow: keep 16 bits of each number, between the smallest and the largest of its block.
    // most: bytes that may be kept. The points of the job must stay where they are.
    Packed(const Job<T>& job, bool narrow, std::int64_t most, const Poll& poll);

    bool complete() const { return complete_; }  // false: stopped by `poll`
    std::int64_t size() const { return n_; }
    std::int64_t bytes() const;
    double error() const;  // what narrow numbers may be off by
    bool multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const;
    // out: count x size, whole rows. Throws std::invalid_argument on a row that does not exist.
    void rows(const std::int64_t* chosen, std::int64_t count, T* out) const;

private:
    using Scratch = typename Job<T>::Scratch;
    void choose(std::int64_t most);
    void keep(std::int64_t place, const Block& block, const T* values);
    std::int64_t first_kept(const Block& block, std::int64_t i) const;
    const T* block_values(std::int64_t task, T* room) const;
    const T* kept_ahead(std::int64_t task) const;
    bool partial() const { return kept_ < std::ssize(blocks_); }
    std::vector<Aligned<T>> rooms() const;
    void copy_row(const Block& block, const T* values, std::int64_t point, T* row) const;

    Job<T> job_;
    std::int64_t n_, tile_rows_, tile_columns_;
    std::vector<Block> blocks_;
    std::vector<std::int64_t> place_;  // of each block among those that are kept, or -1
    std::int64_t kept_ = 0;
    Aligned<T> values_;             // either these,
    Aligned<std::uint16_t> codes_;  // or these with the two numbers of each block
    std::vector<T> low_, step_;
    bool complete_ = false;
};

}  // namespace mercer
