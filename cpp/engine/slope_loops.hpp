// Sums of the derivatives of summands by the columns of a point: the inner loops of
// column_slopes.hpp.
#pragma once

#include "engine/tile.hpp"
#include "engine/tile_products.hpp"
#include "system/functions.hpp"
#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

// -1, 0 or 1: the sign of x - z.
template <class T, class V>
inline V sign_of_difference(V x, V z) {
    const V one = splat(T(1));
    return (x > z ? one : V{}) - (x < z ? one : V{});
}

// s'(x, z), the derivative of a summand by x; p: its exponent.
template <class T, Slope s, class V>
inline V summand_slope(V x, V z, T p) {
    if constexpr (s == Slope::squared) return 2 * (x - z);
    if constexpr (s == Slope::absolute) return sign_of_difference<T>(x, z);
    if constexpr (s == Slope::chi2) {
        const V total = x + z;
        const V safe = total == V{} ? V{} + 1 : total;
        return (x - z) * (x + 3 * z) / (safe * safe);
    }
    const V sign = sign_of_difference<T>(x, z), size = absolute(x - z);
    // Where the points meet the sign is 0; what it is multiplied with must be a number.
    const V safe = size == V{} ? V{} + 1 : size;
    if constexpr (s == Slope::power) {
        if (p == T(1)) return sign;
        return sign * (p * (distance_power<T>(safe, p) / safe));
    }
    if constexpr (s == Slope::decay) {
        if (p == T(1)) return sign * exponential(-size);
        const V power = distance_power<T>(safe, p);
        return sign * (p * (power / safe) * exponential(-power));
    }
}

template <class T, Slope s, int outputs, int used>
inline void slope_strip(const T* x, const T* z, std::int64_t count, const T* v,
                        std::int64_t v_stride, T exponent, T* out) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    V own[used], sum[outputs][used] = {};
#pragma GCC unroll 3
    for (int u = 0; u < used; ++u) own[u] = load(x + u * lanes);
    for (std::int64_t j = 0; j < count; ++j) {
        V slope[used];
#pragma GCC unroll 3
        for (int u = 0; u < used; ++u)
            slope[u] = summand_slope<T, s>(own[u], load(z + j * width + u * lanes), exponent);
#pragma GCC unroll 4
        for (int o = 0; o < outputs; ++o) {
            const V weight = splat(v[o * v_stride + j]);
#pragma GCC unroll 3
            for (int u = 0; u < used; ++u) sum[o][u] = sum[o][u] + weight * slope[u];
        }
    }
#pragma GCC unroll 4
    for (int o = 0; o < outputs; ++o)
#pragma GCC unroll 3
        for (int u = 0; u < used; ++u) save(out + o * width + u * lanes, sum[o][u]);
}

template <class T, Slope s>
void column_slopes(const T* x, const T* z, std::int64_t count, const T* v, std::int64_t v_stride,
                   std::int64_t outputs, std::int64_t columns, T exponent, T* out) {
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    by_some(outputs, [&](auto some, std::int64_t o) {
        const T* weights = v + o * v_stride;
        T* sums = out + o * width;
        if (columns > 2 * lanes)
            slope_strip<T, s, some(), 3>(x, z, count, weights, v_stride, exponent, sums);
        else if (columns > lanes)
            slope_strip<T, s, some(), 2>(x, z, count, weights, v_stride, exponent, sums);
        else
            slope_strip<T, s, some(), 1>(x, z, count, weights, v_stride, exponent, sums);
    });
}

}  // namespace
}  // namespace mercer::MERCER_ISA
