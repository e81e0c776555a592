// Compiled once for each instruction set, with MERCER_ISA naming it. See tile.hpp.
#include "engine/tile.hpp"

#include "engine/slope_loops.hpp"
#include "engine/tile_products.hpp"
#include "features/wave_loops.hpp"
#include "solvers/sweeps.hpp"
#include "system/functions.hpp"
#include "system/simd.hpp"

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
void panel_statistic(const T* a, const T* b, std::int64_t depth, const T* weights, T, T* out,
                     std::int64_t stride, bool first, std::int64_t rows) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    constexpr int width = panel_width<T>, group = group_rows<T>;
    static_assert(width % group == 0);
    for (int g = 0; g < width && g < rows; g += group) {
        V sum[group][vectors] = {};
        for (std::int64_t k = 0; k < depth; ++k) {
            const T* column = b + k * width;
            const V y0 = load(column), y1 = load(column + lanes), y2 = load(column + 2 * lanes);
            V w = {};
            if constexpr (s == Statistic::unequal) w = splat(weights[k]);
#pragma GCC unroll 8
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

// sum of |x - y|^p, or of 1 - exp(-|x - y|^p); power: takes distances to the power p. A row at a
// time: more of them would not fit the registers.
template <class T, Statistic s, class Power>
inline void power_sums(const T* a, const T* b, std::int64_t depth, T* out, std::int64_t stride,
                       bool first, std::int64_t rows, Power power) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes, width = panel_width<T>;
    for (int r = 0; r < width && r < rows; ++r) {
        V sum[vectors] = {};
        for (std::int64_t k = 0; k < depth; ++k) {
            const V x = splat(a[k * width + r]);
#pragma GCC unroll 3
            for (int v = 0; v < vectors; ++v) {
                const V found = power(absolute(x - load(b + k * width + v * lanes)));
                if constexpr (s == Statistic::power)
                    sum[v] = sum[v] + found;
                else
                    sum[v] = sum[v] + (1 - exponential(-found));
            }
        }
        T* row = out + r * stride;
        for (int v = 0; v < vectors; ++v) {
            const V before = first ? V{} : load(row + v * lanes);
            save(row + v * lanes, before + sum[v]);
        }
    }
}

// The powers that are met most need no logarithm.
template <class T, Statistic s>
void panel_powers(const T* a, const T* b, std::int64_t depth, const T*, T p, T* out,
                  std::int64_t stride, bool first, std::int64_t rows) {
    using V = VectorOf<T>;
    const auto sums = [=](auto power) {
        power_sums<T, s>(a, b, depth, out, stride, first, rows, power);
    };
    if (p == T(1)) return sums([](V d) { return d; });
    if (p == T(2)) return sums([](V d) { return d * d; });
    if (p == T(1.5)) return sums([](V d) { return d * square_root(d); });
    if (p == T(0.5)) return sums([](V d) { return square_root(d); });
    if (p < T(2)) return sums([=](V d) { return small_power(d, p); });
    return sums([=](V d) { return real_power<T>(d, p); });
}

// --- programs -----------------------------------------------------------------------------------

// Registers hold whole vectors: numbers past `count` are computed too and ignored.
template <class T, class F>
inline void each(T* out, std::int64_t count, F value) {
    for (std::int64_t j = 0; j < count; j += Vector<T>::lanes) save(out + j, value(j));
}

// How many instructions from here on add exponentials of one register to a sum, each in the place
// of the sum before: nothing else can want those.
inline int chained(const Instruction* step, int length) {
    int n = 1;
    while (n < length && step[n].op == Op::accumulate_exp && step[n].a == step[0].a &&
           step[n].b == step[n - 1].out && step[n].out == step[n].b && step[n].b != step[0].a)
        ++n;
    return n;
}

// out = b + sum of exp(x a + y) over up to `terms` instructions, with the sum in a register.
template <class T, int terms>
inline void accumulate_some(const Instruction* step, const T* a, const T* b, T* out,
                            std::int64_t count) {
    Exponential<T> value[terms];
    for (int t = 0; t < terms; ++t) value[t] = Exponential<T>(step[t].x, step[t].y);
    each(out, count, [&](std::int64_t j) {
        const VectorOf<T> x = load(a + j);
        VectorOf<T> sum = load(b + j);
#pragma GCC unroll 4
        for (int t = 0; t < terms; ++t) sum = sum + value[t](x);
        return sum;
    });
}

template <class T>
inline void accumulate_chain(const Instruction* step, int n, const T* a, const T* b, T* out,
                             std::int64_t count) {
    for (; n >= 3; n -= 3, step += 3, b = out) accumulate_some<T, 3>(step, a, b, out, count);
    if (n == 2) accumulate_some<T, 2>(step, a, b, out, count);
    if (n == 1) accumulate_some<T, 1>(step, a, b, out, count);
}

inline bool ends_in_exponential(const Instruction& step, const Instruction& next) {
    return next.op == Op::exponential && next.a == step.out;
}

// exp(x |u - v|**2 + y) from dot products: the last two steps of most programs, in one pass.
template <class T>
inline void expanded_exponential(const Instruction& step, const RowInputs<T>& row, int term,
                                 T* result) {
    using V = VectorOf<T>;
    const T* dots = row.statistics[term];
    const T* norms = row.norms_right[term];
    const V own = splat(row.norm_left[term]);
    const Exponential<T> value(step.x, step.y);
    each(result, row.count, [&](std::int64_t j) {
        return value(at_least((own + load(norms + j)) - 2 * load(dots + j), V{}));
    });
    if (row.diagonal >= 0) {
        const T self = dots[row.diagonal] + norms[row.diagonal];
        result[row.diagonal] = value(splat(self - self))[0];
    }
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
                if (i + 2 == length && ends_in_exponential(step, program[i + 1]) &&
                    !row.finished[step.a]) {
                    expanded_exponential(program[i + 1], row, step.a, result);
                    return;
                }
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
                const int more = chained(program + i, length - i);
                i += more - 1;  // their results are needed at the end of the chain only
                T* last = i + 1 == length ? result : registers + program[i].out * stride;
                accumulate_chain(program + i + 1 - more, more, a, b, last, count);
                break;
            }
            case Op::tangent:
                each(out, count, [=](std::int64_t j) { return tangent<T>(load(a + j)); });
                break;
            case Op::root:
                each(out, count, [=](std::int64_t j) { return square_root(load(a + j)); });
                break;
            case Op::inverse_root:
                each(out, count, [=](std::int64_t j) {
                    const V value = load(a + j);
                    return value == V{} ? V{} : 1 / square_root(value);
                });
                break;
            case Op::logarithm:
                each(out, count, [=](std::int64_t j) { return any_logarithm<T>(load(a + j)); });
                break;
            case Op::at_least: {
                const V bound = splat(x);
                each(out, count, [=](std::int64_t j) { return at_least(load(a + j), bound); });
                break;
            }
        }
    }
}

// Any finite number times 0 is 0; all others make the sum a NaN.
template <class T>
bool all_finite(const T* values, std::int64_t count) {
    using V = VectorOf<T>;
    constexpr int lanes = Vector<T>::lanes;
    constexpr int sums = 4;  // so that one addition need not wait for another
    V sum[sums] = {};
    std::int64_t j = 0;
    for (; j + sums * lanes <= count; j += sums * lanes) {
#pragma GCC unroll 4
        for (int s = 0; s < sums; ++s) sum[s] = sum[s] + load(values + j + s * lanes) * T(0);
    }
    T total = 0;
    for (; j < count; ++j) total += values[j] * T(0);
    const V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int lane = 0; lane < lanes; ++lane) total += all[lane];
    return total == T(0);
}

template <class T>
constexpr Kernels<T> table = {
    panel_width<T>,
    {panel_statistic<T, Statistic::dot>, panel_statistic<T, Statistic::squared>,
     panel_statistic<T, Statistic::absolute>, panel_statistic<T, Statistic::minimum>,
     panel_statistic<T, Statistic::root_ratio>, panel_statistic<T, Statistic::chi2>,
     panel_statistic<T, Statistic::unequal>, panel_powers<T, Statistic::power>,
     panel_powers<T, Statistic::decay>},
    run_program<T>,
    all_finite<T>,
    multiply<T>,
    multiply_transposed<T, false>,
    multiply_transposed<T, true>,
    encode<T>,
    decode<T>,
    sweep_move<T>,
    sweep_least,
    sweep_partner<T>,
    sweep_single<T>,
    sweep_rows<T>,
    transpose<T>,
    wave_row<T>,
    rotate<T>,
    {column_slopes<T, Slope::squared>, column_slopes<T, Slope::absolute>,
     column_slopes<T, Slope::chi2>, column_slopes<T, Slope::power>, column_slopes<T, Slope::decay>},
};

}  // namespace

const Kernels<float>& kernels32() {
    return table<float>;
}

const Kernels<double>& kernels64() {
    return table<double>;
}

}  // namespace mercer::MERCER_ISA
