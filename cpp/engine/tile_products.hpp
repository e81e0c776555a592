// What is done with a finished tile: products, transposition, fixed point. See tile.hpp.
#pragma once

#include <type_traits>

#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

// --- products -----------------------------------------------------------------------------------

// The sum of the numbers of a vector: of its halves, of their halves and so on.
template <class V>
inline auto total(V v) {
    using T = std::remove_cvref_t<decltype(v[0])>;
    if constexpr (sizeof(V) == 2 * sizeof(T)) {
        return v[0] + v[1];
    } else {
        typedef T Half __attribute__((vector_size(sizeof(V) / 2)));
        Half low, high;
        __builtin_memcpy(&low, &v, sizeof low);
        __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
        return total(low + high);
    }
}

// Calls work(how many, from which) for all columns in as few groups of four at most as there can
// be, three and three rather than four and two: each group reads the tile once.
template <class Work>
inline void by_some(std::int64_t count, Work work) {
    std::int64_t c = 0;
    while (c < count) {
        const std::int64_t rest = count - c;
        if (rest == 4 || rest >= 7) {
            work(Size<4>(), c);
            c += 4;
        } else if (rest >= 3) {
            work(Size<3>(), c);
            c += 3;
        } else if (rest == 2) {
            work(Size<2>(), c);
            c += 2;
        } else {
            work(Size<1>(), c);
            c += 1;
        }
    }
}

template <class T, int rows, int columns>
inline void multiply_strip(const T* tile, std::int64_t stride, std::int64_t width, const T* v,
                           std::int64_t v_stride, T* out, std::int64_t out_stride, const T* ahead) {
    using V = VectorOf<T>;
    V sum[columns][rows] = {};
    for (std::int64_t j = 0; j < width; j += Vector<T>::lanes) {
        V row[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) row[r] = load(tile + r * stride + j);
        constexpr std::int64_t line = 64 / sizeof(T);
        if (ahead != nullptr && j % line == 0) {
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) __builtin_prefetch(ahead + r * stride + j, 0, 2);
        }
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) {
            const V weight = load(v + c * v_stride + j);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) sum[c][r] = sum[c][r] + weight * row[r];
        }
    }
    // Unrolled too: sums that are looked up by a variable would live in memory.
#pragma GCC unroll 4
    for (int c = 0; c < columns; ++c)
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) out[c * out_stride + r] = total(sum[c][r]);
}

// `columns` vectors at a time, with `together` rows: their sums, the rows and a vector stay in
// registers.
template <class T, int columns, int together>
inline void multiply_some(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t width,
                          const T* v, std::int64_t v_stride, T* out, std::int64_t out_stride,
                          const T* ahead) {
    std::int64_t i = 0;
    for (; i + together <= rows; i += together)
        multiply_strip<T, together, columns>(tile + i * stride, stride, width, v, v_stride, out + i,
                                             out_stride,
                                             ahead == nullptr ? nullptr : ahead + i * stride);
    for (; i < rows; ++i)
        multiply_strip<T, 1, columns>(tile + i * stride, stride, width, v, v_stride, out + i,
                                      out_stride, nullptr);
}

template <class T>
void multiply(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t columns,
              const T* v, std::int64_t v_stride, std::int64_t count, T* out,
              std::int64_t out_stride, const T* ahead) {
    by_some(count, [&](auto some, std::int64_t c) {
        constexpr int together = some() > 2 ? 3 : 8 / some();
        multiply_some<T, some(), together>(tile, stride, rows, columns, v + c * v_stride, v_stride,
                                           out + c * out_stride, out_stride,
                                           c == 0 ? ahead : nullptr);
    });
}

// Twelve sums in registers, whatever their shape; they start from what `out` holds, or from 0.
template <class T, int columns, int wide, bool more>
inline void transposed_strip(const T* tile, std::int64_t stride, std::int64_t rows, const T* u,
                             std::int64_t count, T* out, std::int64_t out_stride) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    V sum[columns][wide] = {};
    if constexpr (more) {
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c)
#pragma GCC unroll 12
            for (int v = 0; v < wide; ++v) sum[c][v] = load(out + c * out_stride + v * lanes);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        V row[wide];
#pragma GCC unroll 12
        for (int v = 0; v < wide; ++v) row[v] = load(tile + i * stride + v * lanes);
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) {
            const V weight = splat(u[i * count + c]);
#pragma GCC unroll 12
            for (int v = 0; v < wide; ++v) sum[c][v] = sum[c][v] + weight * row[v];
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; ++c)
#pragma GCC unroll 12
        for (int v = 0; v < wide; ++v) save(out + c * out_stride + v * lanes, sum[c][v]);
}

template <class T, int columns, bool more>
inline void transposed_some(const T* tile, std::int64_t stride, std::int64_t rows,
                            std::int64_t width, const T* u, std::int64_t count, T* out,
                            std::int64_t out_stride) {
    constexpr int lanes = Vector<T>::lanes, wide = 12 / columns;
    std::int64_t j = 0;
    for (; j + wide * lanes <= width; j += wide * lanes)
        transposed_strip<T, columns, wide, more>(tile + j, stride, rows, u, count, out + j,
                                                 out_stride);
    for (; j < width; j += lanes)
        transposed_strip<T, columns, 1, more>(tile + j, stride, rows, u, count, out + j,
                                              out_stride);
}

template <class T, bool more>
void multiply_transposed(const T* tile, std::int64_t stride, std::int64_t rows,
                         std::int64_t columns, const T* u, std::int64_t count, T* out,
                         std::int64_t out_stride) {
    by_some(count, [&](auto some, std::int64_t c) {
        transposed_some<T, some(), more>(tile, stride, rows, columns, u + c, count,
                                         out + c * out_stride, out_stride);
    });
}

// --- transposition ------------------------------------------------------------------------------

#if defined(__AVX2__)
template <class T>
constexpr int square_lanes = 32 / sizeof(T);

inline void transpose_square(const float* in, std::int64_t stride, float* out,
                             std::int64_t out_stride) {
    __m256 r[8], s[8];
    for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(in + i * stride);
    for (int i = 0; i < 8; i += 2) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(out + i * out_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(out + (i + 4) * out_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

inline void transpose_square(const double* in, std::int64_t stride, double* out,
                             std::int64_t out_stride) {
    __m256d r[4], s[4];
    for (int i = 0; i < 4; ++i) r[i] = _mm256_loadu_pd(in + i * stride);
    for (int i = 0; i < 4; i += 2) {
        s[i] = _mm256_unpacklo_pd(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_pd(r[i], r[i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
        _mm256_storeu_pd(out + i * out_stride, _mm256_permute2f128_pd(s[i], s[i + 2], 0x20));
        _mm256_storeu_pd(out + (i + 2) * out_stride, _mm256_permute2f128_pd(s[i], s[i + 2], 0x31));
    }
}
#else
template <class T>
constexpr int square_lanes = Vector<T>::lanes;

template <class T>
inline void transpose_square(const T* in, std::int64_t stride, T* out, std::int64_t out_stride) {
    for (int j = 0; j < Vector<T>::lanes; ++j)
        for (int i = 0; i < Vector<T>::lanes; ++i) out[j * out_stride + i] = in[i * stride + j];
}
#endif

template <class T>
void transpose(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t columns, T* out,
               std::int64_t out_stride) {
    constexpr int lanes = square_lanes<T>;
    const std::int64_t whole_rows = rows / lanes * lanes, whole_columns = columns / lanes * lanes;
    for (std::int64_t j = 0; j < whole_columns; j += lanes)
        for (std::int64_t i = 0; i < whole_rows; i += lanes)
            transpose_square(tile + i * stride + j, stride, out + j * out_stride + i, out_stride);
    for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
            out[j * out_stride + i] = tile[i * stride + j];
}

// --- fixed point --------------------------------------------------------------------------------

template <class T>
void encode(const T* values, std::int64_t count, T low, T step, std::uint16_t* codes) {
    const T scale = step > 0 ? 1 / step : 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const T code = (values[i] - low) * scale + T(0.5);
        codes[i] =
            static_cast<std::uint16_t>(code < T(65535) ? static_cast<std::int32_t>(code) : 65535);
    }
}

template <class T>
void decode(const std::uint16_t* codes, std::int64_t count, T low, T step, T* values) {
    for (std::int64_t i = 0; i < count; ++i)
        values[i] = low + step * static_cast<T>(static_cast<std::int32_t>(codes[i]));
}

}  // namespace
}  // namespace mercer::MERCER_ISA
