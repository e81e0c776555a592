// Cosines, sines and fast rotations of vectors: the inner loops of waves.hpp.
#pragma once

#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

// How an angle in quarter turns is split: `rest` is at most half a quarter turn, and the lowest
// bits of `whole` count quarter turns. Adding a large number rounds to whole ones, exactly.
template <class T>
struct Quarters;

template <>
struct Quarters<float> {
    static constexpr float magic = 12582912.0f;  // 1.5 * 2^23
    static constexpr int terms = 4;
    float_v rest;
    bits32_v whole;

    explicit Quarters(float_v angle) {
        const float_v shifted = angle + magic;
        rest = angle - (shifted - magic);
        whole = (bits32_v)shifted;
    }
};

template <>
struct Quarters<double> {
    static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr int terms = 8;
    double_v rest;
    bits64_v whole;

    explicit Quarters(double_v angle) {
        const double_v shifted = angle + magic;
        rest = angle - (shifted - magic);
        whole = (bits64_v)shifted;
    }
};

inline float_v with_sign(float_v x, bits32_v negative) {
    return (float_v)((bits32_v)x ^ (negative << 31));
}

inline double_v with_sign(double_v x, bits64_v negative) {
    return (double_v)((bits64_v)x ^ (negative << 63));
}

// cos and sin of angles in quarter turns, by their series up to an eighth of a turn.
template <class T, class V = VectorOf<T>>
inline void cosine_and_sine(V angle, V* cosine, V* sine) {
    const Quarters<T> split(angle);
    const V x = split.rest * T(1.57079632679489661923);
    const V square = x * x;
    V c = V{} + 1, s = V{} + 1;
#pragma GCC unroll 8
    for (int k = Quarters<T>::terms; k > 0; --k) {
        s = 1 - s * (square * T(1.0 / ((2 * k) * (2 * k + 1))));
        c = 1 - c * (square * T(1.0 / ((2 * k) * (2 * k - 1))));
    }
    s = s * x;
    const auto odd = (split.whole & 1) != 0;
    *cosine = with_sign(odd ? s : c, ((split.whole + 1) >> 1) & 1);
    *sine = with_sign(odd ? c : s, (split.whole >> 1) & 1);
}

// cosines[j] = amplitudes[j] cos(angles[j] + phases[j]) and the same for sines, where these are
// wanted; phases may be null. All arrays have room for whole vectors.
template <class T>
void wave_row(const T* angles, const T* phases, const T* amplitudes, std::int64_t count, T* cosines,
              T* sines) {
    using V = VectorOf<T>;
    for (std::int64_t j = 0; j < count; j += Vector<T>::lanes) {
        V angle = load(angles + j), cosine, sine;
        if (phases != nullptr) angle = angle + load(phases + j);
        cosine_and_sine<T>(angle, &cosine, &sine);
        const V amplitude = load(amplitudes + j);
        save(cosines + j, amplitude * cosine);
        if (sines != nullptr) save(sines + j, amplitude * sine);
    }
}

// H x of `size` rows of one panel's width, in place: H is the matrix of signs with
// H_ij = (-1)^(number of ones that i and j share), and size a power of two.
template <class T>
void hadamard(T* x, std::int64_t size) {
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    if (size == 2) {
        for (int v = 0; v < width; v += lanes) {
            const auto a = load(x + v), b = load(x + width + v);
            save(x + v, a + b);
            save(x + width + v, a - b);
        }
    }
    if (size < 4) return;
    // Two of the steps at once, the widest first: what follows stays in parts of a quarter.
    const std::int64_t quarter = size / 4, step = quarter * width;
    for (std::int64_t i = 0; i < step; i += lanes) {
        const auto a = load(x + i), b = load(x + i + step);
        const auto c = load(x + i + 2 * step), d = load(x + i + 3 * step);
        save(x + i, (a + b) + (c + d));
        save(x + i + step, (a - b) + (c - d));
        save(x + i + 2 * step, (a + b) - (c + d));
        save(x + i + 3 * step, (a - b) - (c - d));
    }
    for (int part = 0; part < 4; ++part) hadamard(x + part * step, quarter);
}

// H D3 H D2 H D1 x of `size` rows of one panel's width, in place; signs: D1, D2, D3 in a row.
template <class T>
void rotate(T* x, std::int64_t size, const T* signs) {
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    for (int round = 0; round < 3; ++round) {
        for (std::int64_t i = 0; i < size; ++i) {
            const auto sign = splat(signs[round * size + i]);
            for (int v = 0; v < width; v += lanes)
                save(x + i * width + v, load(x + i * width + v) * sign);
        }
        hadamard(x, size);
    }
}

}  // namespace
}  // namespace mercer::MERCER_ISA
