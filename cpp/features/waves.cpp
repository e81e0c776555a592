#include "features/waves.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/engine.hpp"
#include "engine/matvec.hpp"
#include "system/cpu.hpp"

namespace mercer {
namespace {

constexpr double wave_cost = 24;         // of a cosine and a sine, in products of two numbers
constexpr double alone_below = 1 << 20;  // products: some 100 microseconds

void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(std::string("Waves: ") + sentence);
}

// Angles as dot products with every frequency.
template <class T>
class DotAngles {
public:
    using Scratch = typename Job<T>::Scratch;

    DotAngles(std::shared_ptr<const Panels<T>> points, std::shared_ptr<const Panels<T>> frequencies)
        : job_(points->rows(), frequencies->rows(), false,
               {{Statistic::dot, points, frequencies, {}, 0.0}}, {{{Op::statistic, 0, 0, 0, 0, 0}}},
               {}, {}, {}) {}

    std::vector<Block> blocks() const { return job_.block_list(); }
    std::int64_t tile_rows() const { return job_.tile_rows(); }
    std::int64_t tile_columns() const { return job_.tile_columns(); }
    std::vector<Scratch> scratches(std::int64_t workers) const { return job_.scratches(workers); }
    const T* of(const Block& block, Scratch& scratch) const {
        return job_.evaluate(block, false, scratch, false);
    }

private:
    Job<T> job_;
};

// Angles by rotations of whole panels of points.
template <class T>
class RotatedAngles {
public:
    struct Scratch {
        Aligned<T> turned, values;
    };

    RotatedAngles(std::shared_ptr<const Panels<T>> points, const Rotations<T>& rotations)
        : points_(std::move(points)), rotations_(rotations) {}

    std::vector<Block> blocks() const {
        const auto count = std::ssize(rotations_.radii), rows = points_->rows();
        std::vector<Block> all;
        for (std::int64_t i = 0; i < rows; i += tile_rows())
            for (std::int64_t j = 0; j < count; j += tile_columns())
                all.push_back(
                    {i, j, std::min(tile_rows(), rows - i), std::min(tile_columns(), count - j)});
        return all;
    }

    std::int64_t tile_rows() const { return kernels<T>().width; }
    std::int64_t tile_columns() const { return rotations_.size; }

    std::vector<Scratch> scratches(std::int64_t workers) const {
        std::vector<Scratch> all(static_cast<std::size_t>(workers));
        for (auto& one : all) {
            one.turned = aligned<T>(tile_rows() * tile_columns());
            one.values = aligned<T>(tile_rows() * tile_columns());
        }
        return all;
    }

    const T* of(const Block& block, Scratch& scratch) const {
        const auto& table = kernels<T>();
        const std::int64_t width = table.width, size = rotations_.size;
        const std::int64_t given = rotations_.columns * width;
        T* turned = scratch.turned.get();
        std::copy_n(points_->panel(block.row / width), given, turned);
        std::fill(turned + given, turned + size * width, T(0));
        table.rotate(turned, size, rotations_.signs.data() + 3 * block.column);
        const T* radii = rotations_.radii.data() + block.column;
        for (std::int64_t j = 0; j < block.columns; ++j)
            for (std::int64_t i = 0; i < width; ++i) turned[j * width + i] *= radii[j];
        table.transpose(turned, width, size, width, scratch.values.get(), size);
        return scratch.values.get();
    }

private:
    std::shared_ptr<const Panels<T>> points_;
    const Rotations<T>& rotations_;
};

}  // namespace

template <class T>
Waves<T>::Waves(std::shared_ptr<const Panels<T>> frequencies, std::vector<T> amplitudes,
                std::vector<T> phases)
    : count_(frequencies ? frequencies->rows() : 0),
      frequencies_(std::move(frequencies)),
      amplitudes_(std::move(amplitudes)),
      phases_(std::move(phases)) {
    require(frequencies_ != nullptr, "there must be frequencies.");
    pad();
}

template <class T>
Waves<T>::Waves(Rotations<T> rotations, std::vector<T> amplitudes, std::vector<T> phases)
    : count_(std::ssize(rotations.radii)),
      rotations_(std::move(rotations)),
      amplitudes_(std::move(amplitudes)),
      phases_(std::move(phases)) {
    const std::int64_t size = rotations_.size;
    require(size >= 8 && size <= (std::int64_t{1} << 40) && (size & (size - 1)) == 0,
            "the size of a rotation must be a power of two, and at least 8.");
    require(1 <= rotations_.columns && rotations_.columns <= size,
            "a rotation must have room for all columns.");
    require(std::ssize(rotations_.signs) == 3 * round_up(count_, size),
            "every rotation needs three rows of signs.");
    pad();
}

// Gives amplitudes and phases room for whole tiles.
template <class T>
void Waves<T>::pad() {
    require(count_ >= 1, "there must be a frequency.");
    require(std::ssize(amplitudes_) == count_, "every frequency needs its amplitude.");
    require(phases_.empty() || std::ssize(phases_) == count_,
            "there must be a phase for every frequency, or none.");
    const auto room = static_cast<std::size_t>(count_ + kernels<T>().width);
    amplitudes_.resize(room, T(0));
    if (!phases_.empty()) phases_.resize(room, T(0));
}

template <class T>
std::int64_t Waves<T>::columns() const {
    return frequencies_ ? frequencies_->columns() : rotations_.columns;
}

template <class T>
bool Waves<T>::small(std::int64_t rows) const {
    const auto products = static_cast<double>(frequencies_ ? columns() : 3);
    return static_cast<double>(rows) * static_cast<double>(count_) * (products + wave_cost) <=
           alone_below;
}

template <class T>
template <class Use>
auto Waves<T>::with_angles(const std::shared_ptr<const Panels<T>>& points, const Use& use) const {
    require(points && points->columns() == columns(), "points must have as many columns.");
    if (frequencies_) return use(DotAngles<T>(points, frequencies_));
    return use(RotatedAngles<T>(points, rotations_));
}

template <class T>
bool Waves<T>::store(const std::shared_ptr<const Panels<T>>& points, T* out,
                     const Poll& poll) const {
    return with_angles(points, [&](const auto& angles) {
        const bool alone = small(points->rows());
        const auto blocks = angles.blocks();
        const std::int64_t workers = alone ? 1 : num_threads(), stride = angles.tile_columns();
        auto scratch = angles.scratches(workers);
        std::vector<Aligned<T>> rows;  // a row of cosines and one of sines for each worker
        for (std::int64_t w = 0; w < workers; ++w) rows.push_back(aligned<T>(2 * stride));
        return parallel_for(
            std::ssize(blocks),
            [&](std::int64_t task, int worker) {
                const Block& block = blocks[static_cast<std::size_t>(task)];
                const auto own = static_cast<std::size_t>(worker);
                const T* found = angles.of(block, scratch[own]);
                T* cosines = rows[own].get();
                T* sines = phases_.empty() ? cosines + stride : nullptr;
                for (std::int64_t i = 0; i < block.rows; ++i) {
                    kernels<T>().wave_row(found + i * stride,
                                          phases_.empty() ? nullptr : phases_.data() + block.column,
                                          amplitudes_.data() + block.column, block.columns, cosines,
                                          sines);
                    T* row = out + (block.row + i) * width() + block.column;
                    std::copy_n(cosines, block.columns, row);
                    if (sines != nullptr) std::copy_n(sines, block.columns, row + count_);
                }
            },
            poll, alone);
    });
}

template <class T>
bool Waves<T>::multiply(const std::shared_ptr<const Panels<T>>& points, const double* v,
                        std::int64_t count, double* out, const Poll& poll) const {
    return with_angles(points, [&](const auto& angles) {
        const bool alone = small(points->rows()), pairs = phases_.empty();
        const auto blocks = angles.blocks();
        const std::int64_t rows = points->rows();
        const std::int64_t tall = angles.tile_rows(), stride = angles.tile_columns();
        const auto workers = std::min<std::int64_t>(num_threads(), std::ssize(blocks));
        auto scratch = angles.scratches(alone ? 1 : workers);
        std::vector<Aligned<T>> tiles;  // of cosines, and of sines
        for (std::int64_t w = 0; w < (alone ? 1 : workers); ++w)
            tiles.push_back(aligned<T>((pairs ? 2 : 1) * tall * stride));
        std::vector<Product<T>> products;
        for (int part = 0; part < (pairs ? 2 : 1); ++part)
            products.emplace_back(rows, count_, false, v + part * count_ * count, count, tall,
                                  stride, workers);
        const bool done = parallel_in_turn(
            std::ssize(blocks),
            [&](std::int64_t task, int worker) {
                const Block& block = blocks[static_cast<std::size_t>(task)];
                const auto own = alone ? 0 : static_cast<std::size_t>(worker);
                const T* found = angles.of(block, scratch[own]);
                T* cosines = tiles[own].get();
                T* sines = pairs ? cosines + tall * stride : nullptr;
                for (std::int64_t i = 0; i < block.rows; ++i)
                    kernels<T>().wave_row(
                        found + i * stride, pairs ? nullptr : phases_.data() + block.column,
                        amplitudes_.data() + block.column, block.columns, cosines + i * stride,
                        pairs ? sines + i * stride : nullptr);
                products[0].add(block, cosines, nullptr, worker);
                if (pairs) products[1].add(block, sines, nullptr, worker);
            },
            poll, alone);
        if (!done) return false;
        products[0].finish(out);
        if (pairs) {
            std::vector<double> rest(static_cast<std::size_t>(rows * count));
            products[1].finish(rest.data());
            for (std::size_t i = 0; i < rest.size(); ++i) out[i] += rest[i];
        }
        return true;
    });
}

template class Waves<float>;
template class Waves<double>;

}  // namespace mercer
