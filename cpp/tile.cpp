// Compiled once for each instruction set, with MERCER_ISA naming it. See tile.hpp.
#include "tile.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mercer::MERCER_ISA {
namespace {

#if defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

typedef float float_v __attribute__((vector_size(vector_bytes)));
typedef double double_v __attribute__((vector_size(vector_bytes)));
typedef std::int32_t int32_v __attribute__((vector_size(vector_bytes)));
typedef std::int64_t int64_v __attribute__((vector_size(vector_bytes)));

template <class T>
struct Vector;

template <>
struct Vector<float> {
    using V = float_v;
    using I = int32_v;
    static constexpr int lanes = vector_bytes / 4;
};

template <>
struct Vector<double> {
    using V = double_v;
    using I = int64_v;
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

// Rows that share a load of the columns: 4 x 3 sums, 3 columns and a row fill 16 registers.
template <class T>
constexpr int group_rows = panel_width<T> % 4 == 0 ? 4 : 2;

#if defined(__AVX2__)
inline float_v splat(float x) {
    return float_v{x, x, x, x, x, x, x, x};
}
inline double_v splat(double x) {
    return double_v{x, x, x, x};
}
#else
inline float_v splat(float x) {
    return float_v{x, x, x, x};
}
inline double_v splat(double x) {
    return double_v{x, x};
}
#endif

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
#if defined(__AVX2__)
    return _mm256_sqrt_ps(x);
#elif defined(__x86_64__)
    return _mm_sqrt_ps(x);
#else
    for (int i = 0; i < Vector<float>::lanes; ++i) x[i] = __builtin_sqrtf(x[i]);
    return x;
#endif
}

inline double_v square_root(double_v x) {
#if defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#elif defined(__x86_64__)
    return _mm_sqrt_pd(x);
#else
    for (int i = 0; i < Vector<double>::lanes; ++i) x[i] = __builtin_sqrt(x[i]);
    return x;
#endif
}

inline float_v absolute(float_v x) {
    return (float_v)((int32_v)x & 0x7fffffff);
}

inline double_v absolute(double_v x) {
    return (double_v)((int64_v)x & 0x7fffffffffffffff);
}

// --- statistics ---------------------------------------------------------------------------------

template <class T>
struct Summand {
    using V = VectorOf<T>;
    template <Statistic s>
    static inline V add(V sum, V x, V y, V w) {
        if constexpr (s == Statistic::dot) return sum + x * y;
        if constexpr (s == Statistic::squared) {
            const V d = x - y;
            return sum + d * d;
        }
        if constexpr (s == Statistic::absolute) return sum + absolute(x - y);
        if constexpr (s == Statistic::minimum) return sum + (x < y ? x : y);
        if constexpr (s == Statistic::root_ratio) {
            const V low = x < y ? x : y;
            const V high = x < y ? y : x;
            // Where the larger is 0 so is the smaller, and the wanted value.
            return sum + square_root(low / (high == V{} ? V{} + 1 : high));
        }
        if constexpr (s == Statistic::chi2) {
            const V d = x - y, total = x + y;
            return sum + d * d / (total == V{} ? V{} + 1 : total);
        }
        if constexpr (s == Statistic::unequal) return sum + (x != y ? w : V{});
    }
};

template <class T, Statistic s>
void panel_statistic(const T* a, const T* b, std::int64_t depth, const T* weights, T* out,
                     std::int64_t stride, bool first) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    constexpr int width = panel_width<T>, group = group_rows<T>;
    static_assert(width % group == 0);
    for (int g = 0; g < width; g += group) {
        V sum[group][vectors] = {};
        for (std::int64_t k = 0; k < depth; ++k) {
            const T* column = b + k * width;
            const V y0 = load(column), y1 = load(column + lanes), y2 = load(column + 2 * lanes);
            V w = {};
            if constexpr (s == Statistic::unequal) w = splat(weights[k]);
#pragma GCC unroll 4
            for (int r = 0; r < group; ++r) {
                const V x = splat(a[k * width + g + r]);
                sum[r][0] = Summand<T>::template add<s>(sum[r][0], x, y0, w);
                sum[r][1] = Summand<T>::template add<s>(sum[r][1], x, y1, w);
                sum[r][2] = Summand<T>::template add<s>(sum[r][2], x, y2, w);
            }
        }
        for (int r = 0; r < group; ++r) {
            T* row = out + (g + r) * stride;
            for (int v = 0; v < vectors; ++v) {
                const V before = first ? V{} : load(row + v * lanes);
                save(row + v * lanes, before + sum[r][v]);
            }
        }
    }
}

// --- functions ----------------------------------------------------------------------------------

// max(x, low) and min(x, high), NaN where x is NaN.
template <class V>
inline V at_least(V x, V low) {
    return low > x ? low : x;
}

template <class V>
inline V at_most(V x, V high) {
    return high < x ? high : x;
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
    float_v factor, rest, start;

    Exponential(double x, double y) {
        const double binary = x * 1.4426950408889634;
        factor = splat(static_cast<float>(binary));
        rest = splat(static_cast<float>(binary - static_cast<double>(static_cast<float>(binary))));
        start = splat(static_cast<float>(y * 1.4426950408889634));
    }

    inline float_v operator()(float_v a) const {
        const float_v magic = splat(12582912.0f + 127.0f);  // 1.5 * 2^23, and the exponent's bias
        const float_v t = at_most(at_least(a * factor + start, splat(-126.0f)), splat(128.0f));
        const float_v shifted = t + magic;
        const float_v n = shifted - magic;
        // Within the bounds r is computed from a, with all its digits; beyond them it is cut.
        float_v r = a * rest + (a * factor + (start - n));
        r = at_most(at_least(r, splat(-0.51f)), splat(0.51f));
        float_v p = splat(1.5345807502e-4f);
        p = p * r + 1.3399931183e-3f;
        p = p * r + 9.6184889739e-3f;
        p = p * r + 5.5503287771e-2f;
        p = p * r + 2.4022646890e-1f;
        p = p * r + 6.9314720574e-1f;
        p = p * r + 1.0f;
        return p * (float_v)((int32_v)shifted << 23);
    }
};

inline float_v exponential(float_v x) {
    return Exponential<float>(1, 0)(x);
}

// exp(x) = 2^n exp(r), |r| <= log(2) / 2, n rounded as above.
inline double_v exponential(double_v x) {
    const double_v low = splat(-708.3), high = splat(709.7);
    const double_v within = x < low ? low : (x > high ? high : x);
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
    const int64_v whole = (int64_v)shifted - (int64_v)magic;
    const int64_v half = whole >> 1;
    const double_v scale = (double_v)((half + 1023) << 52);
    const double_v rest = (double_v)((whole - half + 1023) << 52);
    const double_v result = value * scale * rest;
    const double_v infinity = splat(__builtin_inf());
    return x < low ? double_v{} : (x > high ? infinity : result);
}

template <>
struct Exponential<double> {
    double_v x, y;

    Exponential(double factor, double start) : x(splat(factor)), y(splat(start)) {}

    inline double_v operator()(double_v a) const { return exponential(a * x + y); }
};

// log(x) = e log(2) + 2 artanh((m - 1) / (m + 1)) with m in [sqrt(1/2), sqrt(2)); x > 0 is normal.
inline float_v logarithm(float_v x) {
    const int32_v bits = (int32_v)x;
    const int32_v e = (bits - 0x3f3504f3) >> 23;
    const float_v m = (float_v)(bits - (e << 23));
    const float_v s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float_v p = splat(2.0f / 9.0f);
    p = p * s2 + 2.0f / 7.0f;
    p = p * s2 + 2.0f / 5.0f;
    p = p * s2 + 2.0f / 3.0f;
    const float_v n = __builtin_convertvector(e, float_v);
    return n * 0.693359375f + (n * -2.12194440e-4f + (p * s2 * s + 2.0f * s));
}

inline double_v logarithm(double_v x) {
    const int64_v bits = (int64_v)x;
    const int64_v e = (bits - 0x3fe6a09e667f3bcd) >> 52;
    const double_v m = (double_v)(bits - (e << 52));
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

// --- programs -----------------------------------------------------------------------------------

// Registers hold whole vectors: numbers past `count` are computed too and ignored.
template <class T, class F>
inline void each(T* out, std::int64_t count, F value) {
    for (std::int64_t j = 0; j < count; j += Vector<T>::lanes) save(out + j, value(j));
}

template <class T>
void run_program(const Instruction* program, int length, const RowInputs<T>& row, T* registers,
                 std::int64_t stride, T* result) {
    using V = VectorOf<T>;
    const std::int64_t count = row.count;
    for (int i = 0; i < length; ++i) {
        const Instruction& step = program[i];
        T* out = i + 1 == length ? result : registers + step.out * stride;
        const T* a = registers + step.a * stride;
        const T* b = registers + step.b * stride;
        const T x = static_cast<T>(step.x), y = static_cast<T>(step.y);
        switch (step.op) {
            case Op::statistic:
                a = row.statistics[step.a];
                each(out, count, [=](std::int64_t j) { return load(a + j); });
                break;
            case Op::expanded: {
                a = row.statistics[step.a];
                if (row.finished[step.a]) {
                    each(out, count, [=](std::int64_t j) { return load(a + j); });
                } else {
                    const T* norms = row.norms_right[step.a];
                    const V own = splat(row.norm_left[step.a]);
                    each(out, count, [=](std::int64_t j) {
                        const V square = (own + load(norms + j)) - 2 * load(a + j);
                        return square < V{} ? V{} : square;
                    });
                }
                if (row.diagonal >= 0) out[row.diagonal] -= out[row.diagonal];
                break;
            }
            case Op::external:
                a = row.externals[step.a];
                for (std::int64_t j = 0; j < count; ++j) out[j] = a[j];
                break;
            case Op::left: {
                const V own = splat(row.left[step.a]);
                each(out, count, [=](std::int64_t) { return own; });
                break;
            }
            case Op::right:
                a = row.right[step.a];
                each(out, count, [=](std::int64_t j) { return load(a + j); });
                break;
            case Op::constant:
                each(out, count, [=](std::int64_t) { return splat(x); });
                break;
            case Op::add:
                each(out, count, [=](std::int64_t j) { return load(a + j) + load(b + j); });
                break;
            case Op::subtract:
                each(out, count, [=](std::int64_t j) { return load(a + j) - load(b + j); });
                break;
            case Op::multiply:
                each(out, count, [=](std::int64_t j) { return load(a + j) * load(b + j); });
                break;
            case Op::divide:
                each(out, count, [=](std::int64_t j) { return load(a + j) / load(b + j); });
                break;
            case Op::affine:
                each(out, count, [=](std::int64_t j) { return load(a + j) * x + y; });
                break;
            case Op::whole_power: {
                const auto exponent = static_cast<std::int64_t>(step.x);
                each(out, count,
                     [=](std::int64_t j) { return whole_power(load(a + j), exponent); });
                break;
            }
            case Op::real_power:
                each(out, count, [=](std::int64_t j) { return real_power<T>(load(a + j), x); });
                break;
            case Op::exponential: {
                const Exponential<T> value(step.x, step.y);
                each(out, count, [=](std::int64_t j) { return value(load(a + j)); });
                break;
            }
            case Op::accumulate_exp: {
                const Exponential<T> value(step.x, step.y);
                each(out, count, [=](std::int64_t j) { return load(b + j) + value(load(a + j)); });
                break;
            }
            case Op::tangent:
                each(out, count, [=](std::int64_t j) { return tangent<T>(load(a + j)); });
                break;
            case Op::root:
                each(out, count, [=](std::int64_t j) { return square_root(load(a + j)); });
                break;
            case Op::at_least: {
                const V bound = splat(x);
                each(out, count, [=](std::int64_t j) {
                    const V value = load(a + j);
                    return value < bound ? bound : value;
                });
                break;
            }
        }
    }
}

// --- products -----------------------------------------------------------------------------------

template <class T>
inline T total(VectorOf<T> v) {
    T sum = 0;
    for (int i = 0; i < Vector<T>::lanes; ++i) sum += v[i];
    return sum;
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
        for (int r = 0; r < rows; ++r) out[c * out_stride + r] = total<T>(sum[c][r]);
}

// `columns` vectors at a time, with as many rows as keep eight sums in registers.
template <class T, int columns>
inline void multiply_some(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t width,
                          const T* v, std::int64_t v_stride, T* out, std::int64_t out_stride,
                          const T* ahead) {
    constexpr int together = 8 / columns;
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
    std::int64_t c = 0;
    const auto some = [&](auto size) {
        for (; c + size() <= count; c += size())
            multiply_some<T, size()>(tile, stride, rows, columns, v + c * v_stride, v_stride,
                                     out + c * out_stride, out_stride, c == 0 ? ahead : nullptr);
    };
    some(Size<2>());
    some(Size<1>());
}

// Twelve sums in registers, whatever their shape.
template <class T, int columns, int wide>
inline void transposed_strip(const T* tile, std::int64_t stride, std::int64_t rows, const T* u,
                             std::int64_t count, T* out, std::int64_t out_stride) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    V sum[columns][wide] = {};
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

template <class T, int columns>
inline void transposed_some(const T* tile, std::int64_t stride, std::int64_t rows,
                            std::int64_t width, const T* u, std::int64_t count, T* out,
                            std::int64_t out_stride) {
    constexpr int lanes = Vector<T>::lanes, wide = 12 / columns;
    std::int64_t j = 0;
    for (; j + wide * lanes <= width; j += wide * lanes)
        transposed_strip<T, columns, wide>(tile + j, stride, rows, u, count, out + j, out_stride);
    for (; j < width; j += lanes)
        transposed_strip<T, columns, 1>(tile + j, stride, rows, u, count, out + j, out_stride);
}

template <class T>
void multiply_transposed(const T* tile, std::int64_t stride, std::int64_t rows,
                         std::int64_t columns, const T* u, std::int64_t count, T* out,
                         std::int64_t out_stride) {
    std::int64_t c = 0;
    const auto some = [&](auto size) {
        for (; c + size() <= count; c += size())
            transposed_some<T, size()>(tile, stride, rows, columns, u + c, count,
                                       out + c * out_stride, out_stride);
    };
    some(Size<4>());
    some(Size<2>());
    some(Size<1>());
}

// --- transposition ------------------------------------------------------------------------------

#if defined(__AVX2__)
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
inline void transpose_square(const T* in, std::int64_t stride, T* out, std::int64_t out_stride) {
    for (int j = 0; j < Vector<T>::lanes; ++j)
        for (int i = 0; i < Vector<T>::lanes; ++i) out[j * out_stride + i] = in[i * stride + j];
}
#endif

template <class T>
void transpose(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t columns, T* out,
               std::int64_t out_stride) {
    constexpr int lanes = Vector<T>::lanes;
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

template <class T>
constexpr Kernels<T> table = {
    panel_width<T>,
    {panel_statistic<T, Statistic::dot>, panel_statistic<T, Statistic::squared>,
     panel_statistic<T, Statistic::absolute>, panel_statistic<T, Statistic::minimum>,
     panel_statistic<T, Statistic::root_ratio>, panel_statistic<T, Statistic::chi2>,
     panel_statistic<T, Statistic::unequal>},
    run_program<T>,
    multiply<T>,
    multiply_transposed<T>,
    encode<T>,
    decode<T>,
    transpose<T>,
};

}  // namespace

const Kernels<float>& kernels32() {
    return table<float>;
}

const Kernels<double>& kernels64() {
    return table<double>;
}

}  // namespace mercer::MERCER_ISA
