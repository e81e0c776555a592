#include "engine/half_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "system/cpu.hpp"

namespace mercer {

template <class T>
Packed<T>::Packed(const Job<T>& job, bool narrow, const Poll& poll)
    : n_(job.size()), tile_rows_(job.tile_rows()), tile_columns_(job.tile_columns()) {
    if (!job.same_points())
        throw std::invalid_argument("Packed: the matrix must be that of one collection of points.");
    blocks_ = job.block_list();
    const auto count = static_cast<std::int64_t>(blocks_.size());
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (narrow) {
        codes_ = aligned<std::uint16_t>(count * size);
        low_.resize(blocks_.size());
        step_.resize(blocks_.size());
    } else {
        values_ = aligned<T>(count * size);
    }
    auto scratch = job.scratches(num_threads());
    complete_ = parallel_for(
        count,
        [&](std::int64_t task, int worker) {
            const Block& block = blocks_[static_cast<std::size_t>(task)];
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            keep(task, block, job.evaluate(block, true, own));
        },
        poll);
}

// What lies below the diagonal was not computed and is never used: it is left out of the range.
template <class T>
void Packed<T>::keep(std::int64_t task, const Block& block, const T* values) {
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (!codes_) {
        std::copy_n(values, block.rows * tile_columns_, values_.get() + task * size);
        return;
    }
    T low = std::numeric_limits<T>::infinity(), high = -low;
    bool finite = true;
    for (std::int64_t i = 0; i < block.rows; ++i)
        for (std::int64_t j = first_kept(block, i); j < block.columns; ++j) {
            const T value = values[i * tile_columns_ + j];
            finite = finite && std::isfinite(value);
            low = std::min(low, value);
            high = std::max(high, value);
        }
    if (!finite) {  // as the job has noted: the whole block is NaN
        low_[static_cast<std::size_t>(task)] = std::numeric_limits<T>::quiet_NaN();
        step_[static_cast<std::size_t>(task)] = 0;
        std::fill_n(codes_.get() + task * size, size, std::uint16_t(0));
        return;
    }
    const T step = (high - low) / T(65535);
    low_[static_cast<std::size_t>(task)] = low;
    step_[static_cast<std::size_t>(task)] = step;
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t from = first_kept(block, i);
        std::uint16_t* row = codes_.get() + task * size + i * tile_columns_;
        std::fill_n(row, tile_columns_, std::uint16_t(0));
        kernels<T>().encode(values + i * tile_columns_ + from, block.columns - from, low, step,
                            row + from);
    }
}

template <class T>
std::int64_t Packed<T>::first_kept(const Block& block, std::int64_t i) const {
    return std::clamp<std::int64_t>(block.row + i - block.column, 0, block.columns);
}

// The values of a block; narrow ones are written into `room`.
template <class T>
const T* Packed<T>::block_values(std::int64_t task, T* room) const {
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (!codes_) return values_.get() + task * size;
    const auto index = static_cast<std::size_t>(task);
    kernels<T>().decode(codes_.get() + task * size, blocks_[index].rows * tile_columns_,
                        low_[index], step_[index], room);
    return room;
}

template <class T>
std::int64_t Packed<T>::bytes() const {
    const auto each = static_cast<std::int64_t>(codes_ ? sizeof(std::uint16_t) : sizeof(T));
    return static_cast<std::int64_t>(blocks_.size()) * tile_rows_ * tile_columns_ * each;
}

template <class T>
double Packed<T>::error() const {
    double largest = 0;
    for (const T step : step_) largest = std::max(largest, static_cast<double>(step));
    return largest / 2;
}

template <class T>
std::vector<Aligned<T>> Packed<T>::rooms() const {
    std::vector<Aligned<T>> all;
    for (int w = 0; w < num_threads(); ++w)
        all.push_back(aligned<T>(codes_ ? tile_rows_ * tile_columns_ : 0));
    return all;
}

template <class T>
bool Packed<T>::multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const {
    Product<T> product(n_, n_, true, v, count, tile_rows_, tile_columns_, num_threads());
    auto room = rooms();
    const bool done = parallel_in_turn(
        static_cast<std::int64_t>(blocks_.size()),
        [&](std::int64_t task, int worker) {
            const std::int64_t next = task + num_threads();
            const bool ahead = !codes_ && next < static_cast<std::int64_t>(blocks_.size());
            product.add(blocks_[static_cast<std::size_t>(task)],
                        block_values(task, room[static_cast<std::size_t>(worker)].get()),
                        ahead ? values_.get() + next * tile_rows_ * tile_columns_ : nullptr,
                        worker);
        },
        poll);
    if (done) product.finish(out);
    return done;
}

template <class T>
void Packed<T>::rows(const std::int64_t* chosen, std::int64_t count, T* out) const {
    for (std::int64_t r = 0; r < count; ++r)
        if (chosen[r] < 0 || chosen[r] >= n_)
            throw std::invalid_argument("Packed: a row must be one of the points.");
    auto room = rooms();
    parallel_for(
        static_cast<std::int64_t>(blocks_.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks_[static_cast<std::size_t>(task)];
            const auto touches = [&](std::int64_t point) {
                return (block.row <= point && point < block.row + block.rows) ||
                       (block.column <= point && point < block.column + block.columns);
            };
            if (std::none_of(chosen, chosen + count, touches)) return;
            const T* values = block_values(task, room[static_cast<std::size_t>(worker)].get());
            for (std::int64_t r = 0; r < count; ++r)
                copy_row(block, values, chosen[r], out + r * n_);
        },
        nullptr);
}

// The part of a row of the whole matrix that a block holds, in its rows or in its columns.
template <class T>
void Packed<T>::copy_row(const Block& block, const T* values, std::int64_t point, T* row) const {
    const std::int64_t i = point - block.row, j = point - block.column;
    if (0 <= i && i < block.rows) {
        const std::int64_t from = first_kept(block, i);
        std::copy(values + i * tile_columns_ + from, values + i * tile_columns_ + block.columns,
                  row + block.column + from);
    }
    if (0 <= j && j < block.columns)
        for (std::int64_t k = 0; k < block.rows && block.row + k < point; ++k)
            row[block.row + k] = values[k * tile_columns_ + j];
}

template class Packed<float>;
template class Packed<double>;

}  // namespace mercer
