#include "engine/half_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "system/cpu.hpp"

namespace mercer {

template <class T>
Packed<T>::Packed(const Job<T>& job, bool narrow, std::int64_t most, const Poll& poll)
    : job_(job), n_(job.size()), tile_rows_(job.tile_rows()), tile_columns_(job.tile_columns()) {
    if (!job.same_points())
        throw std::invalid_argument("Packed: the matrix must be that of one collection of points.");
    blocks_ = job.block_list();
    const std::int64_t size = tile_rows_ * tile_columns_;
    choose(most / (size * static_cast<std::int64_t>(narrow ? sizeof(std::uint16_t) : sizeof(T))));
    if (narrow) {
        codes_ = aligned<std::uint16_t>(kept_ * size);
        low_.resize(static_cast<std::size_t>(kept_));
        step_.resize(static_cast<std::size_t>(kept_));
    } else {
        values_ = aligned<T>(kept_ * size);
    }
    auto scratch = job.scratches(num_threads());
    complete_ = parallel_for(
        std::ssize(blocks_),
        [&](std::int64_t task, int worker) {
            const auto index = static_cast<std::size_t>(task);
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            if (place_[index] >= 0)
                keep(place_[index], blocks_[index], job.evaluate(blocks_[index], true, own));
        },
        poll);
}

// Which blocks are kept, at most so many: spread by the golden ratio, because blocks go to workers
// in turn, and any regular pattern could give one of them all that is kept.
template <class T>
void Packed<T>::choose(std::int64_t most) {
    const std::int64_t count = std::ssize(blocks_);
    std::vector<std::int64_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), std::int64_t(0));
    kept_ = std::clamp<std::int64_t>(most, 0, count);
    place_.assign(blocks_.size(), 0);
    if (kept_ < count) {
        constexpr double golden = 0.6180339887498949;
        const auto spread = [](std::int64_t i) {
            const double turns = golden * static_cast<double>(i);
            return turns - std::floor(turns);
        };
        std::nth_element(order.begin(), order.begin() + kept_, order.end(),
                         [&](std::int64_t a, std::int64_t b) { return spread(a) < spread(b); });
        for (auto i = order.begin() + kept_; i != order.end(); ++i)
            place_[static_cast<std::size_t>(*i)] = -1;
    }
    std::int64_t next = 0;
    for (auto& place : place_)
        if (place >= 0) place = next++;
}

// What lies below the diagonal was not computed and is never used: it is left out of the range.
template <class T>
void Packed<T>::keep(std::int64_t place, const Block& block, const T* values) {
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (!codes_) {
        std::copy_n(values, block.rows * tile_columns_, values_.get() + place * size);
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
        low_[static_cast<std::size_t>(place)] = std::numeric_limits<T>::quiet_NaN();
        step_[static_cast<std::size_t>(place)] = 0;
        std::fill_n(codes_.get() + place * size, size, std::uint16_t(0));
        return;
    }
    const T step = (high - low) / T(65535);
    low_[static_cast<std::size_t>(place)] = low;
    step_[static_cast<std::size_t>(place)] = step;
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t from = first_kept(block, i);
        std::uint16_t* row = codes_.get() + place * size + i * tile_columns_;
        std::fill_n(row, tile_columns_, std::uint16_t(0));
        kernels<T>().encode(values + i * tile_columns_ + from, block.columns - from, low, step,
                            row + from);
    }
}

template <class T>
std::int64_t Packed<T>::first_kept(const Block& block, std::int64_t i) const {
    return std::clamp<std::int64_t>(block.row + i - block.column, 0, block.columns);
}

// The values of a block that is kept; narrow ones are written into `room`.
template <class T>
const T* Packed<T>::block_values(std::int64_t task, T* room) const {
    const std::int64_t size = tile_rows_ * tile_columns_;
    const std::int64_t place = place_[static_cast<std::size_t>(task)];
    if (!codes_) return values_.get() + place * size;
    const auto index = static_cast<std::size_t>(place);
    const std::int64_t rows = blocks_[static_cast<std::size_t>(task)].rows;
    kernels<T>().decode(codes_.get() + place * size, rows * tile_columns_, low_[index],
                        step_[index], room);
    return room;
}

// The numbers of a block, if they are kept as they will be used.
template <class T>
const T* Packed<T>::kept_ahead(std::int64_t task) const {
    if (codes_ || task >= std::ssize(blocks_)) return nullptr;
    const std::int64_t place = place_[static_cast<std::size_t>(task)];
    return place < 0 ? nullptr : values_.get() + place * tile_rows_ * tile_columns_;
}

template <class T>
std::int64_t Packed<T>::bytes() const {
    const auto each = static_cast<std::int64_t>(codes_ ? sizeof(std::uint16_t) : sizeof(T));
    return kept_ * tile_rows_ * tile_columns_ * each;
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
    std::vector<Scratch> scratch;
    if (partial()) scratch = job_.scratches(num_threads());
    const bool done = parallel_in_turn(
        std::ssize(blocks_),
        [&](std::int64_t task, int worker) {
            const auto own = static_cast<std::size_t>(worker);
            const Block& block = blocks_[static_cast<std::size_t>(task)];
            const bool kept = place_[static_cast<std::size_t>(task)] >= 0;
            product.add(block,
                        kept ? block_values(task, room[own].get())
                             : job_.evaluate(block, true, scratch[own], false),
                        kept_ahead(task + num_threads()), worker);
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
    if (partial()) {
        job_.rows(chosen, count, out, nullptr);
        return;
    }
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
