#include "panels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>

#include "machine.hpp"
#include "pool.hpp"

namespace mercer {

template <>
const Kernels<float>& kernels<float>() {
#ifdef MERCER_HAS_AVX2
    if (isa() == Isa::avx2) return avx2::kernels32();
#endif
    return baseline::kernels32();
}

template <>
const Kernels<double>& kernels<double>() {
#ifdef MERCER_HAS_AVX2
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
    void* p = std::aligned_alloc(64, bytes);
    if (p == nullptr) throw std::bad_alloc();
    return Aligned<T>(static_cast<T*>(p));
}

template <class T>
template <class Source>
Panels<T>::Panels(const Source* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  const double* centre, const double* scale)
    : rows_(rows),
      columns_(columns),
      width_(kernels<T>().width),
      panels_((rows + width_ - 1) / width_) {
    if (rows < 0 || columns < 0 || stride < columns)
        throw std::invalid_argument("Panels: sizes must not be negative nor rows overlap.");
    if (columns > 0 && panels_ * width_ > std::numeric_limits<std::int64_t>::max() / 16 / columns)
        throw std::bad_alloc();
    data_ = aligned<T>(panels_ * width_ * columns_);
    norms_.assign(static_cast<std::size_t>(panels_ * width_), T(0));
    largest_.assign(static_cast<std::size_t>(panels_), 0.0);
    parallel_for(panels_, [&](std::int64_t p, int) { pack(p, x, stride, centre, scale); }, nullptr);
    for (std::int64_t i = 0; i < rows_; ++i)
        if (std::isnan(norms_[static_cast<std::size_t>(i)])) missing_.push_back(i);
}

template <class T>
template <class Source>
void Panels<T>::pack(std::int64_t p, const Source* x, std::int64_t stride, const double* centre,
                     const double* scale) {
    T* out = data_.get() + p * columns_ * width_;
    for (std::int64_t r = 0; r < width_; ++r) {
        const std::int64_t i = p * width_ + r;
        if (i >= rows_) {
            for (std::int64_t k = 0; k < columns_; ++k) out[k * width_ + r] = T(0);
            continue;
        }
        const Source* row = x + i * stride;
        double norm = 0;
        for (std::int64_t k = 0; k < columns_; ++k) {
            double value = static_cast<double>(row[k]);
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
template Panels<float>::Panels(const float*, std::int64_t, std::int64_t, std::int64_t,
                               const double*, const double*);
template Panels<float>::Panels(const double*, std::int64_t, std::int64_t, std::int64_t,
                               const double*, const double*);
template Panels<double>::Panels(const float*, std::int64_t, std::int64_t, std::int64_t,
                                const double*, const double*);
template Panels<double>::Panels(const double*, std::int64_t, std::int64_t, std::int64_t,
                                const double*, const double*);

}  // namespace mercer
