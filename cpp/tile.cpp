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

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, n rounded by adding a large number. NaN stays NaN; below
// the smallest normal number the result is 0.
inline float_v exponential(float_v x) {
    const float_v low = splat(-87.3f), high = splat(88.72f);
    const float_v within = x < low ? low : (x > high ? high : x);
    const float_v magic = splat(12582912.0f);  // 1.5 * 2^23
    const float_v shifted = within * 1.44269504088896341f + magic;
    const float_v n = shifted - magic;
    const float_v r = (within - n * 0.693359375f) - n * -2.12194440e-4f;
    float_v p = splat(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const float_v value = p * (r * r) + r + 1.0f;
    // n may be 128: two factors keep the scale within range.
    const int32_v whole = (int32_v)shifted - (int32_v)magic;
    const int32_v half = whole >> 1;
    const float_v scale = (float_v)((half + 127) << 23);
    const float_v rest = (float_v)((whole - half + 127) << 23);
    const float_v result = value * scale * rest;
    const float_v infinity = splat(__builtin_inff());
    return x < low ? float_v{} : (x > high ? infinity : result);
}

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

// tanh(x) = 1 - 2 / (exp(2 |x|) + 1) with the sign of x; its own series near 0.
template <class T, class V>
inline V tangent(V x) {
    const V size = absolute(x);
    const V large = 1 - 2 / (exponential(2 * size) + 1);
    const V s2 = x * x;
    const V small =
        size * (1 + s2 * (-T(1) / 3 + s2 * (T(2) / 15 + s2 * (-T(17) / 315 + s2 * (T(62) / 2835)))));
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
                each(out, count, [=](std::int64_t j) { return whole_power(load(a + j), exponent); });
                break;
            }
            case Op::real_power:
                each(out, count,
                     [=](std::int64_t j) { return exponential(x * logarithm(load(a + j))); });
                break;
            case Op::exponential:
                each(out, count, [=](std::int64_t j) { return exponential(load(a + j) * x + y); });
                break;
            case Op::accumulate_exp:
                each(out, count, [=](std::int64_t j) {
                    return load(b + j) + exponential(load(a + j) * x + y);
                });
                break;
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

template <class T, int rows, int columns>
inline void multiply_strip(const T* tile, std::int64_t stride, std::int64_t depth, const T* v,
                           std::int64_t pad, T* out) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    V sum[rows][columns] = {};
    for (std::int64_t j = 0; j < depth; ++j) {
        V right[columns];
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) right[c] = load(v + j * pad + c * lanes);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
            const V left = splat(tile[r * stride + j]);
#pragma GCC unroll 4
            for (int c = 0; c < columns; ++c) sum[r][c] = sum[r][c] + left * right[c];
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            T* place = out + r * pad + c * lanes;
            save(place, load(place) + sum[r][c]);
        }
}

template <class T, int columns>
void multiply_columns(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                      const T* v, std::int64_t pad, T* out) {
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
        multiply_strip<T, 4, columns>(tile + r * stride, stride, depth, v, pad, out + r * pad);
    for (; r < rows; ++r)
        multiply_strip<T, 1, columns>(tile + r * stride, stride, depth, v, pad, out + r * pad);
}

template <class T>
void multiply(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t depth, const T* v,
              std::int64_t pad, T* out) {
    constexpr int lanes = Vector<T>::lanes;
    std::int64_t c = 0;
    for (; c + 2 * lanes <= pad; c += 2 * lanes)
        multiply_columns<T, 2>(tile, stride, rows, depth, v + c, pad, out + c);
    if (c < pad) multiply_columns<T, 1>(tile, stride, rows, depth, v + c, pad, out + c);
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

template <class T>
constexpr Kernels<T> table = {
    panel_width<T>,
    {panel_statistic<T, Statistic::dot>, panel_statistic<T, Statistic::squared>,
     panel_statistic<T, Statistic::absolute>, panel_statistic<T, Statistic::minimum>,
     panel_statistic<T, Statistic::root_ratio>, panel_statistic<T, Statistic::chi2>,
     panel_statistic<T, Statistic::unequal>},
    run_program<T>,
    multiply<T>,
    transpose<T>,
    Vector<T>::lanes,
};

}  // namespace

const Kernels<float>& kernels32() {
    return table<float>;
}

const Kernels<double>& kernels64() {
    return table<double>;
}

}  // namespace mercer::MERCER_ISA
