#include "engine/panels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "system/cpu.hpp"
#include "system/pool.hpp"

namespace mercer {
namespace {

constexpr std::int64_t alone_below = 1 << 14;  // numbers that one thread packs sooner than two

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
#ifdef MERCER_X86
    if (isa() == Isa::avx512) return avx512::kernels32();
    if (isa() == Isa::avx2) return avx2::kernels32();
#endif
    return baseline::kernels32();
}

template <>
const Kernels<double>& kernels<double>() {
#ifdef MERCER_X86
    if (isa() == Isa::avx512) return avx512::kernels64();
    if (isa() == Isa::avx2) return avx2::kernels64();
#endif
    return baseline::kernels64();
}

template <class T>
void Free<T>::operator()(T* p) const {
    std::free(p);
}

template <class T>
Aligned<T> aligned(std::int64_t count) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
    if (count < 0 || count > most) throw std::bad_alloc();
    const auto bytes = static_cast<std::size_t>(
        round_up(std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(sizeof(T)), 64));
    // Large pages for large memory: tiles jump between panels, and each jump looks up a page.
    constexpr std::size_t huge = 2 << 20;
    const bool large = bytes >= 4 * huge;
    const std::size_t room = large ? (bytes + huge - 1) / huge * huge : bytes;
    void* p = std::aligned_alloc(large ? huge : 64, room);
    if (p == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (large) madvise(p, room, MADV_HUGEPAGE);
#endif
    return Aligned<T>(static_cast<T*>(p));
}

template <class Number>
void DenseRows<Number>::check() const {
    if (rows < 0 || columns < 0 || stride < columns)
        throw std::invalid_argument("Panels: sizes must not be negative nor rows overlap.");
}

template <class Number>
void DenseRows<Number>::read(std::int64_t i, double* row) const {
    const Number* own = values + i * stride;
    for (std::int64_t k = 0; k < columns; ++k) row[k] = static_cast<double>(own[k]);
}

template <class Number, class Index>
void SparseRows<Number, Index>::check() const {
    if (rows < 0 || columns < 0) throw std::invalid_argument("Panels: sizes must not be negative.");
    for (std::int64_t i = 0; i < rows; ++i)
        if (starts[i] < 0 || starts[i] > starts[i + 1] || starts[i + 1] > stored)
            throw std::invalid_argument("Panels: the starts of sparse rows must ascend.");
    for (std::int64_t p = 0; p < stored; ++p)
        if (places[p] < 0 || places[p] >= columns)
            throw std::invalid_argument("Panels: a column of a sparse row does not exist.");
}

template <class Number, class Index>
void SparseRows<Number, Index>::read(std::int64_t i, double* row) const {
    std::fill_n(row, columns, 0.0);
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p)
        row[places[p]] += static_cast<double>(values[p]);
}

template <class T>
template <class Source>
Panels<T>::Panels(const Source& source, const double* centre, const double* scale)
    : rows_(source.rows),
      columns_(source.columns),
      width_(kernels<T>().width),
      panels_((source.rows + width_ - 1) / width_) {
    source.check();
    make_room();
    const bool few = panels_ <= 1 || panels_ * width_ * columns_ <= alone_below;
    parallel_for(
        panels_, [&](std::int64_t p, int) { pack(p, source, centre, scale); }, nullptr, few);
    for (std::int64_t i = 0; i < rows_; ++i)
        if (std::isnan(norms_[static_cast<std::size_t>(i)])) missing_.push_back(i);
}

template <class T>
void Panels<T>::make_room() {
    if (columns_ > 0 && panels_ * width_ > std::numeric_limits<std::int64_t>::max() / 16 / columns_)
        throw std::bad_alloc();
    data_ = aligned<T>(panels_ * width_ * columns_);
    norms_.assign(static_cast<std::size_t>(panels_ * width_), T(0));
    largest_.assign(static_cast<std::size_t>(panels_), 0.0);
}

template <class T>
Panels<T>::Panels(const Panels& others, const std::int64_t* chosen, std::int64_t count)
    : rows_(count),
      columns_(others.columns_),
      width_(others.width_),
      panels_((count + width_ - 1) / width_) {
    make_room();
    std::fill_n(data_.get(), panels_ * width_ * columns_, T(0));
    for (std::int64_t i = 0; i < count; ++i) {
        if (chosen[i] < 0 || chosen[i] >= others.rows_)
            throw std::invalid_argument("Panels: a chosen row must exist.");
        const T* from = others.panel(chosen[i] / width_) + chosen[i] % width_;
        T* to = data_.get() + i / width_ * columns_ * width_ + i % width_;
        for (std::int64_t k = 0; k < columns_; ++k) to[k * width_] = from[k * width_];
        const T norm = others.norms_[static_cast<std::size_t>(chosen[i])];
        norms_[static_cast<std::size_t>(i)] = norm;
        auto& largest = largest_[static_cast<std::size_t>(i / width_)];
        if (!(static_cast<double>(norm) <= largest)) largest = static_cast<double>(norm);
        if (std::isnan(norm)) missing_.push_back(i);
    }
}

template <class T>
template <class Source>
void Panels<T>::pack(std::int64_t p, const Source& source, const double* centre,
                     const double* scale) {
    T* out = data_.get() + p * columns_ * width_;
    std::vector<double> row(static_cast<std::size_t>(columns_));
    for (std::int64_t r = 0; r < width_; ++r) {
        const std::int64_t i = p * width_ + r;
        if (i >= rows_) {
            for (std::int64_t k = 0; k < columns_; ++k) out[k * width_ + r] = T(0);
            continue;
        }
        source.read(i, row.data());
        double norm = 0;
        for (std::int64_t k = 0; k < columns_; ++k) {
            double value = row[static_cast<std::size_t>(k)];
            if (centre != nullptr) value -= centre[k];
            if (scale != nullptr) value *= scale[k];
            const T kept = static_cast<T>(value);
            out[k * width_ + r] = kept;
            norm += static_cast<double>(kept) * static_cast<double>(kept);
        }
        norms_[static_cast<std::size_t>(i)] = static_cast<T>(norm);
        auto& largest = largest_[static_cast<std::size_t>(p)];
        if (!(norm <= largest)) largest = norm;  // NaN counts as large
    }
}

template <class T>
std::int64_t Panels<T>::bytes() const {
    return panels_ * width_ * (columns_ + 1) * static_cast<std::int64_t>(sizeof(T));
}

template struct Free<float>;
template struct Free<double>;
template struct Free<std::uint16_t>;
template Aligned<float> aligned<float>(std::int64_t);
template Aligned<double> aligned<double>(std::int64_t);
template Aligned<std::uint16_t> aligned<std::uint16_t>(std::int64_t);
template class Panels<float>;
template class Panels<double>;

template struct DenseRows<float>;
template struct DenseRows<double>;
template struct SparseRows<float, std::int32_t>;
template struct SparseRows<float, std::int64_t>;
template struct SparseRows<double, std::int32_t>;
template struct SparseRows<double, std::int64_t>;
template Panels<float>::Panels(const DenseRows<float>&, const double*, const double*);
template Panels<float>::Panels(const DenseRows<double>&, const double*, const double*);
template Panels<float>::Panels(const SparseRows<float, std::int32_t>&, const double*,
                               const double*);
template Panels<float>::Panels(const SparseRows<float, std::int64_t>&, const double*,
                               const double*);
template Panels<float>::Panels(const SparseRows<double, std::int32_t>&, const double*,
                               const double*);
template Panels<float>::Panels(const SparseRows<double, std::int64_t>&, const double*,
                               const double*);
template Panels<double>::Panels(const DenseRows<float>&, const double*, const double*);
template Panels<double>::Panels(const DenseRows<double>&, const double*, const double*);
template Panels<double>::Panels(const SparseRows<float, std::int32_t>&, const double*,
                                const double*);
template Panels<double>::Panels(const SparseRows<float, std::int64_t>&, const double*,
                                const double*);
template Panels<double>::Panels(const SparseRows<double, std::int32_t>&, const double*,
                                const double*);
template Panels<double>::Panels(const SparseRows<double, std::int64_t>&, const double*,
                                const double*);

}  // namespace mercer
