// K v, collected block by block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/panels.hpp"
#include "system/cpu.hpp"

namespace mercer {

// Part of a matrix, in points; it starts where a panel starts.
struct Block {
    std::int64_t row, column, rows, columns;
};

// Collects K v block by block; of the same points, a block above the diagonal counts for its
// mirror image too. Sums of a block in T, sums of blocks in double precision, one set for each
// worker: the result depends on the number of threads, not on which was faster.
template <class T>
class Product {
public:
    // workers: how many may add at a time.
    Product(std::int64_t rows, std::int64_t columns, bool same, const double* v, std::int64_t count,
            std::int64_t tile_rows, std::int64_t tile_columns, std::int64_t workers)
        : rows_(rows),
          count_(count),
          same_(same),
          tile_rows_(tile_rows),
          tile_columns_(tile_columns) {
        if (same) {
            by_point_ = aligned<T>(columns * count);
            std::transform(v, v + columns * count, by_point_.get(),
                           [](double value) { return static_cast<T>(value); });
        }
        depth_ = round_up(columns, tile_columns);
        by_column_ = aligned<T>(depth_ * count);
        for (std::int64_t c = 0; c < count; ++c) {
            T* own = by_column_.get() + c * depth_;
            for (std::int64_t j = 0; j < columns; ++j) own[j] = static_cast<T>(v[j * count + c]);
            std::fill(own + columns, own + depth_, T(0));
        }
        for (std::int64_t w = 0; w < workers; ++w) {
            Worker worker;
            worker.part = aligned<T>(tile_columns * count);
            worker.copy = aligned<T>(std::min(tile_rows, rows) * tile_columns);
            worker.sums.assign(static_cast<std::size_t>(rows * count), 0.0);
            workers_.push_back(std::move(worker));
        }
    }

    // values: rows tile_columns apart. ahead: the values that this worker will add next, or null.
    void add(const Block& block, const T* values, const T* ahead, int worker) {
        Worker& own = workers_[static_cast<std::size_t>(worker)];
        const bool crosses = same_ && block.column < block.row + block.rows;
        if (crosses || block.columns < tile_columns_) values = cleaned(block, values, own);
        const auto& table = kernels<T>();
        table.multiply(values, tile_columns_, block.rows, block.columns,
                       by_column_.get() + block.column, depth_, count_, own.part.get(), tile_rows_,
                       ahead);
        collect(own, block.row, block.rows, tile_rows_);
        if (!same_) return;
        if (crosses) clear_diagonal(block, own);
        table.multiply_transposed(values, tile_columns_, block.rows, block.columns,
                                  by_point_.get() + block.row * count_, count_, own.part.get(),
                                  tile_columns_);
        collect(own, block.column, block.columns, tile_columns_);
    }

    void finish(double* out) const {
        for (std::int64_t i = 0; i < rows_; ++i)
            for (std::int64_t c = 0; c < count_; ++c) {
                double total = 0;
                for (const auto& worker : workers_)
                    total += worker.sums[static_cast<std::size_t>(c * rows_ + i)];
                out[i * count_ + c] = total;
            }
    }

private:
    struct Worker {
        Aligned<T> part, copy;
        std::vector<double> sums;
    };

    // A copy of the block with zeros after its last column and, of the same points, below the
    // diagonal of the whole matrix.
    const T* cleaned(const Block& block, const T* values, Worker& own) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
            const std::int64_t below = same_ ? block.row + i - block.column : 0;
            const std::int64_t first = std::clamp<std::int64_t>(below, 0, block.columns);
            T* row = own.copy.get() + i * tile_columns_;
            std::fill_n(row, first, T(0));
            std::copy(values + i * tile_columns_ + first,
                      values + i * tile_columns_ + block.columns, row + first);
            std::fill(row + block.columns, row + tile_columns_, T(0));
        }
        return own.copy.get();
    }

    // The diagonal counts once.
    void clear_diagonal(const Block& block, Worker& own) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
            const std::int64_t j = block.row + i - block.column;
            if (0 <= j && j < block.columns)
                own.copy[static_cast<std::size_t>(i * tile_columns_ + j)] = T(0);
        }
    }

    void collect(Worker& own, std::int64_t first, std::int64_t points, std::int64_t stride) {
        for (std::int64_t c = 0; c < count_; ++c) {
            double* sums = own.sums.data() + c * rows_ + first;
            const T* part = own.part.get() + c * stride;
            for (std::int64_t i = 0; i < points; ++i) sums[i] += static_cast<double>(part[i]);
        }
    }

    std::int64_t rows_, count_;
    bool same_;
    std::int64_t tile_rows_, tile_columns_;
    std::int64_t depth_ = 0;
    Aligned<T> by_point_, by_column_;  // v, twice; by point only of the same points
    std::vector<Worker> workers_;
};

}  // namespace mercer
