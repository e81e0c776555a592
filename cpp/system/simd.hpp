// Vectors of numbers for the instruction set that a file is compiled for. Only files
// compiled once for each of them include this: everything is local to them.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mercer::MERCER_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

typedef float float_v __attribute__((vector_size(vector_bytes)));
typedef double double_v __attribute__((vector_size(vector_bytes)));
typedef std::int32_t int32_v __attribute__((vector_size(vector_bytes)));
typedef std::int64_t int64_v __attribute__((vector_size(vector_bytes)));
// For arithmetic on the bits of any number, which may overflow.
typedef std::uint32_t bits32_v __attribute__((vector_size(vector_bytes)));
typedef std::uint64_t bits64_v __attribute__((vector_size(vector_bytes)));

template <class T>
struct Vector;

template <>
struct Vector<float> {
    using V = float_v;
    static constexpr int lanes = vector_bytes / 4;
};

template <>
struct Vector<double> {
    using V = double_v;
    static constexpr int lanes = vector_bytes / 8;
};

template <class T>
using VectorOf = typename Vector<T>::V;

// A number that the compiler knows.
template <int n>
struct Size {
    constexpr int operator()() const { return n; }
};

constexpr int vectors = 3;  // in a panel

template <class T>
constexpr int panel_width = vectors * Vector<T>::lanes;

// Rows that share a load of the columns: 4 x 3 sums, 3 columns and a row fill 16 registers, and
// 8 x 3 sums most of the 32 that come with the widest vectors.
template <class T>
constexpr int group_rows = vector_bytes == 64 ? 8 : (panel_width<T> % 4 == 0 ? 4 : 2);

// x in every lane: x - 0 is x, also where x is -0 or NaN.
inline float_v splat(float x) {
    return x - float_v{};
}
inline double_v splat(double x) {
    return x - double_v{};
}

template <class T>
inline VectorOf<T> load(const T* p) {
    VectorOf<T> v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

template <class T>
inline void save(T* p, VectorOf<T> v) {
    __builtin_memcpy(p, &v, sizeof v);
}

inline float_v square_root(float_v x) {
#if defined(__AVX512F__)
    return _mm512_sqrt_ps(x);
#elif defined(__AVX2__)
    return _mm256_sqrt_ps(x);
#elif defined(__x86_64__)
    return _mm_sqrt_ps(x);
#else
    for (int i = 0; i < Vector<float>::lanes; ++i) x[i] = __builtin_sqrtf(x[i]);
    return x;
#endif
}

inline double_v square_root(double_v x) {
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(x);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__)
    return _mm_sqrt_pd(x);
#else
    for (int i = 0; i < Vector<double>::lanes; ++i) x[i] = __builtin_sqrt(x[i]);
    return x;
#endif
}

// max(x, low) and min(x, high), NaN where x is NaN: what the instructions do with the operands in
// this order.
#if defined(__AVX512F__)
inline float_v at_least(float_v x, float_v low) {
    return _mm512_max_ps(low, x);
}
inline float_v at_most(float_v x, float_v high) {
    return _mm512_min_ps(high, x);
}
inline double_v at_least(double_v x, double_v low) {
    return _mm512_max_pd(low, x);
}
inline double_v at_most(double_v x, double_v high) {
    return _mm512_min_pd(high, x);
}
#elif defined(__AVX2__)
inline float_v at_least(float_v x, float_v low) {
    return _mm256_max_ps(low, x);
}
inline float_v at_most(float_v x, float_v high) {
    return _mm256_min_ps(high, x);
}
inline double_v at_least(double_v x, double_v low) {
    return _mm256_max_pd(low, x);
}
inline double_v at_most(double_v x, double_v high) {
    return _mm256_min_pd(high, x);
}
#else
template <class V>
inline V at_least(V x, V low) {
    return low > x ? low : x;
}
template <class V>
inline V at_most(V x, V high) {
    return high < x ? high : x;
}
#endif

inline float_v absolute(float_v x) {
    return (float_v)((int32_v)x & 0x7fffffff);
}

inline double_v absolute(double_v x) {
    return (double_v)((int64_v)x & 0x7fffffffffffffff);
}

}  // namespace
}  // namespace mercer::MERCER_ISA
