// Compiled once for each instruction set, with MERCER_ISA naming it. See tile.hpp.
#include "tile.hpp"

#include "functions.hpp"
#include "simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

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
        if constexpr (s == Statistic::minimum) return sum + at_most(x, y);
        if constexpr (s == Statistic::root_ratio) {
            const V low = at_most(x, y);
            const V high = at_least(x, y);
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
                        return at_least((own + load(norms + j)) - 2 * load(a + j), V{});
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
                each(out, count, [=](std::int64_t j) { return at_least(load(a + j), bound); });
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
