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

// s'(x, z) of |x - z|^p, from a function that takes a distance d to p d^(p - 1); 0 at the kink,
// where it is asked for d = 1.
template <class T, class Power>
inline auto kinked(Power power) {
    return [=](VectorOf<T> x, VectorOf<T> z) {
        const VectorOf<T> size = absolute(x - z);
        const VectorOf<T> safe = size == VectorOf<T>{} ? VectorOf<T>{} + 1 : size;
        return sign_of_difference<T>(x, z) * power(safe);
    };
}

// Calls use(s') with the derivative of a summand by x, as a function of two vectors; p: its
// exponent, which is looked at here and not in the loop.
template <class T, Slope s, class Use>
inline void with_slope(T p, Use use) {
    using V = VectorOf<T>;
    if constexpr (s == Slope::squared) use([](V x, V z) { return 2 * (x - z); });
    if constexpr (s == Slope::absolute) use([](V x, V z) { return sign_of_difference<T>(x, z); });
    if constexpr (s == Slope::chi2)
        use([](V x, V z) {
            const V total = x + z;
            const V safe = total == V{} ? V{} + 1 : total;
            return (x - z) * (x + 3 * z) / (safe * safe);
        });
    if constexpr (s == Slope::power) {
        if (p == T(1.5))
            use(kinked<T>([](V d) { return T(1.5) * square_root(d); }));
        else if (p > T(1) && p < T(2))
            use(kinked<T>([=](V d) { return p * small_power(d, p - 1); }));
        else
            use(kinked<T>([=](V d) { return p * (distance_power<T>(d, p) / d); }));
    }
    if constexpr (s == Slope::decay) {
        if (p == T(1))
            use(kinked<T>([](V d) { return exponential(-d); }));
        else if (p < T(2))
            use(kinked<T>([=](V d) {
                const V power = small_power(d, p);
                return p * (power / d) * exponential(-power);
            }));
        else
            use(kinked<T>([=](V d) {
                const V power = distance_power<T>(d, p);
                return p * (power / d) * exponential(-power);
            }));
    }
}

template <class T, int outputs, int used, class SlopeOf>
inline void slope_strip(const T* x, const T* z, std::int64_t count, const T* v,
                        std::int64_t v_stride, SlopeOf slope_of, T* out) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    V own[used], sum[outputs][used] = {};
#pragma GCC unroll 3
    for (int u = 0; u < used; ++u) own[u] = load(x + u * lanes);
    for (std::int64_t j = 0; j < count; ++j) {
        V slope[used];
#pragma GCC unroll 3
        for (int u = 0; u < used; ++u) slope[u] = slope_of(own[u], load(z + j * width + u * lanes));
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
    with_slope<T, s>(exponent, [&](auto slope) {
        by_some(outputs, [&](auto some, std::int64_t o) {
            const T* weights = v + o * v_stride;
            T* sums = out + o * width;
            if (columns > 2 * lanes)
                slope_strip<T, some(), 3>(x, z, count, weights, v_stride, slope, sums);
            else if (columns > lanes)
                slope_strip<T, some(), 2>(x, z, count, weights, v_stride, slope, sums);
            else
                slope_strip<T, some(), 1>(x, z, count, weights, v_stride, slope, sums);
        });
    });
}

}  // namespace
}  // namespace mercer::MERCER_ISA
