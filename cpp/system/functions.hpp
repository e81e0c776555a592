// exp, log, powers and tanh of vectors, by polynomials of our own: several times faster than the
// C library's, and NaN stays NaN.
#pragma once

#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

// 2^r for |r| <= 1/2.
inline float_v power_of_two(float_v r) {
    float_v p = splat(1.5345807502e-4f);
    p = p * r + 1.3399931183e-3f;
    p = p * r + 9.6184889739e-3f;
    p = p * r + 5.5503287771e-2f;
    p = p * r + 2.4022646890e-1f;
    p = p * r + 6.9314720574e-1f;
    return p * r + 1.0f;
}

// exp(x a + y) for one pair of constants. NaN stays NaN; what is too small becomes the smallest
// normal number instead of 0, too small to matter.
template <class T>
struct Exponential;

// 2^t = 2^n 2^r with t = (x a + y) / log(2), n whole and |r| <= 1/2; n is rounded by adding a large
// number, whose last bits are then the exponent of 2^n. The factor of a has two parts, so that r is
// exact to the last bit for large |t| too.
template <>
struct Exponential<float> {
    float_v factor, rest, start, low, high;

    Exponential() = default;
    Exponential(double x, double y) {
        const double binary = x * 1.4426950408889634, offset = y * 1.4426950408889634;
        factor = splat(static_cast<float>(binary));
        rest = splat(static_cast<float>(binary - static_cast<double>(static_cast<float>(binary))));
        start = splat(static_cast<float>(offset));
        // Where -126 <= t <= 128, in terms of a; a factor of 0 needs no bounds.
        const double infinity = __builtin_inf();
        const double one = binary == 0 ? -infinity : (-126.0 - offset) / binary;
        const double other = binary == 0 ? infinity : (128.0 - offset) / binary;
        low = splat(static_cast<float>(one < other ? one : other));
        high = splat(static_cast<float>(one < other ? other : one));
    }

    inline float_v operator()(float_v any) const {
        const float_v magic = splat(12582912.0f + 127.0f);  // 1.5 * 2^23, and the exponent's bias
        const float_v a = at_most(at_least(any, low), high);
        const float_v shifted = (a * factor + start) + magic;
        const float_v n = shifted - magic;
        const float_v r = a * rest + (a * factor + (start - n));
        return power_of_two(r) * (float_v)((bits32_v)shifted << 23);
    }
};

inline float_v exponential(float_v x) {
    return Exponential<float>(1, 0)(x);
}

// exp(x) = 2^n exp(r), |r| <= log(2) / 2, n rounded as above.
inline double_v exponential(double_v x) {
    const double_v low = splat(-708.3), high = splat(709.7);
    const double_v within = at_most(at_least(x, low), high);
    const double_v magic = splat(6755399441055744.0);  // 1.5 * 2^52
    const double_v shifted = within * 1.44269504088896340736 + magic;
    const double_v n = shifted - magic;
    const double_v r = (within - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
    double_v p = splat(1.0 / 6227020800.0);
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    const double_v value = p * (r * r) + r + 1.0;
    const bits64_v whole = (bits64_v)shifted - (bits64_v)magic;
    const bits64_v half = (bits64_v)((int64_v)whole >> 1);
    const double_v scale = (double_v)((half + 1023) << 52);
    const double_v rest = (double_v)((whole - half + 1023) << 52);
    const double_v result = value * scale * rest;
    const double_v infinity = splat(__builtin_inf());
    return x < low ? double_v{} : (x > high ? infinity : result);
}

template <>
struct Exponential<double> {
    double_v x, y;

    Exponential() = default;
    Exponential(double factor, double start) : x(splat(factor)), y(splat(start)) {}

    inline double_v operator()(double_v a) const { return exponential(a * x + y); }
};

// log(x) = e log(2) + 2 artanh((m - 1) / (m + 1)) with m in [sqrt(1/2), sqrt(2)); x > 0 is normal.
inline float_v logarithm(float_v x) {
    const bits32_v bits = (bits32_v)x;
    const int32_v e = (int32_v)(bits - 0x3f3504f3) >> 23;
    const float_v m = (float_v)(bits - ((bits32_v)e << 23));
    const float_v s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float_v p = splat(2.0f / 9.0f);
    p = p * s2 + 2.0f / 7.0f;
    p = p * s2 + 2.0f / 5.0f;
    p = p * s2 + 2.0f / 3.0f;
    const float_v n = __builtin_convertvector(e, float_v);
    return n * 0.693359375f + (n * -2.12194440e-4f + (p * s2 * s + 2.0f * s));
}

inline double_v logarithm(double_v x) {
    const bits64_v bits = (bits64_v)x;
    const int64_v e = (int64_v)(bits - 0x3fe6a09e667f3bcd) >> 52;
    const double_v m = (double_v)(bits - ((bits64_v)e << 52));
    const double_v s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double_v p = splat(2.0 / 23.0);
    p = p * s2 + 2.0 / 21.0;
    p = p * s2 + 2.0 / 19.0;
    p = p * s2 + 2.0 / 17.0;
    p = p * s2 + 2.0 / 15.0;
    p = p * s2 + 2.0 / 13.0;
    p = p * s2 + 2.0 / 11.0;
    p = p * s2 + 2.0 / 9.0;
    p = p * s2 + 2.0 / 7.0;
    p = p * s2 + 2.0 / 5.0;
    p = p * s2 + 2.0 / 3.0;
    double_v n = {};
    for (int i = 0; i < Vector<double>::lanes; ++i) n[i] = static_cast<double>(e[i]);
    return n * 6.93145751953125e-1 + (n * 1.42860682030941723212e-6 + (p * s2 * s + 2.0 * s));
}

// log(x) of any number: minus infinity below the smallest normal number, NaN for x < 0 and for NaN.
template <class T, class V>
inline V any_logarithm(V x) {
    const V infinity = splat(T(__builtin_inf()));
    const V smallest = splat(sizeof(T) == 4 ? T(__FLT_MIN__) : T(__DBL_MIN__));
    const V value = x < smallest ? -infinity : (x == infinity ? infinity : logarithm(x));
    return x >= V{} ? value : splat(T(__builtin_nan("")));
}

template <class V>
inline V whole_power(V x, std::int64_t exponent) {
    V result = V{} + 1;
    for (std::int64_t n = exponent < 0 ? -exponent : exponent; n > 0; n >>= 1) {
        if (n & 1) result = result * x;
        x = x * x;
    }
    return exponent < 0 ? 1 / result : result;
}

// x ^ p for x >= 0; NaN for x < 0 and for NaN.
template <class T, class V>
inline V real_power(V x, T p) {
    const V infinity = splat(T(__builtin_inf()));
    const V smallest = splat(sizeof(T) == 4 ? T(__FLT_MIN__) : T(__DBL_MIN__));
    const V at_zero = p > 0 ? V{} : infinity, at_infinity = p > 0 ? infinity : V{};
    const V inside = exponential(p * logarithm(x));
    const V value = x < smallest ? at_zero : (x == infinity ? at_infinity : inside);
    return x >= V{} ? value : splat(T(__builtin_nan("")));
}

// d ^ p = 2 ^ (p log2(d)) for 0 <= d and 0 < p < 2, without a division: about half the cost of
// real_power. With d = 2^e m the part p e of the exponent is rounded to a whole number and back, so
// that no digits are lost to it. A NaN may become any number: who calls this must know of it.
inline float_v small_power(float_v d, float p) {
    // Between these the result is a normal number; below them it is 0 to rounding.
    const float_v low = splat(p <= 1 ? 0x1p-126f : 0x1p-63f);
    const float_v high = splat(p <= 1 ? 0x1p127f : 0x1p63f);
    const float_v within = at_most(at_least(d, low), high);
    const bits32_v bits = (bits32_v)within;
    const int32_v e = (int32_v)(bits - 0x3f3504f3) >> 23;
    const float_v t = (float_v)(bits - ((bits32_v)e << 23)) - 1.0f;
    float_v q = splat(1.292626373e-1f);
    q = q * t - 2.089330581e-1f;
    q = q * t + 2.152125164e-1f;
    q = q * t - 2.386758040e-1f;
    q = q * t + 2.879390807e-1f;
    q = q * t - 3.607162580e-1f;
    q = q * t + 4.809102801e-1f;
    q = q * t - 7.213471994e-1f;
    q = q * t + 1.442695005f;
    const float_v n = __builtin_convertvector(e, float_v), rest = (q * t) * p;
    const float_v magic = splat(12582912.0f + 127.0f);  // as in Exponential<float>
    const float_v shifted = (n * p + rest) + magic;
    const float_v r = (n * p - (shifted - magic)) + rest;
    const float_v value = power_of_two(r) * (float_v)((bits32_v)shifted << 23);
    return d == float_v{} ? float_v{} : value;
}

inline double_v small_power(double_v d, double p) {
    return real_power<double>(d, p);
}

// d ^ p for a distance d >= 0 and p > 0; the powers that are met most need no logarithm.
template <class T, class V>
inline V distance_power(V d, T p) {
    if (p == T(1)) return d;
    if (p == T(2)) return d * d;
    if (p == T(1.5)) return d * square_root(d);
    if (p == T(0.5)) return square_root(d);
    return p < T(2) ? small_power(d, p) : real_power<T>(d, p);
}

// tanh(x) = 1 - 2 / (exp(2 |x|) + 1) with the sign of x; its own series near 0.
template <class T, class V>
inline V tangent(V x) {
    const V size = absolute(x);
    const V large = 1 - 2 / (exponential(2 * size) + 1);
    const V s2 = x * x;
    const V small =
        size *
        (1 + s2 * (-T(1) / 3 + s2 * (T(2) / 15 + s2 * (-T(17) / 315 + s2 * (T(62) / 2835)))));
    const V value = size < splat(T(sizeof(T) == 4 ? 0.1 : 0.02)) ? small : large;
    return x < V{} ? -value : value;
}

}  // namespace
}  // namespace mercer::MERCER_ISA
