// The inner loops of the engine, compiled once for each instruction set.
//
// Points are kept in *panels*: `width` rows at a time, column after column, so that one load
// brings the same column of several points. A tile is a block of panels times a block of panels;
// its statistics are computed into scratch memory and turned into kernel values row by row by a
// short program, while they are in cache.
//
// The files that fill these tables use no standard library: an inline function of it, compiled for
// a wide instruction set, could be the copy the linker keeps for all of them.
#pragma once

#include <cstdint>

namespace mercer {

// sum over columns of: x y, (x - y)^2, |x - y|, min(x, y), sqrt(min / max), (x - y)^2 / (x + y),
// w where x and y differ, |x - y|^p, and 1 - exp(-|x - y|^p). 0/0 is 0.
enum class Statistic : int {
    dot,
    squared,
    absolute,
    minimum,
    root_ratio,
    chi2,
    unequal,
    power,
    decay
};
inline constexpr int n_statistics = 9;

// Summands that have a derivative by x: (x - y)^2, |x - y|, (x - y)^2 / (x + y), |x - y|^p and
// 1 - exp(-|x - y|^p).
enum class Slope : int { squared, absolute, chi2, power, decay };
inline constexpr int n_slopes = 5;

enum class Op : int {
    statistic,       // out = statistic a
    expanded,        // out = max(|x|^2 + |y|^2 - 2 x.y, 0), from dot products in statistic a
    external,        // out = block a, computed elsewhere
    left,            // out = vector a of the rows
    right,           // out = vector a of the columns
    constant,        // out = x
    add,             // out = a + b
    subtract,        // out = a - b
    multiply,        // out = a * b
    divide,          // out = a / b
    affine,          // out = x a + y
    whole_power,     // out = a ^ x, x a whole number
    real_power,      // out = a ^ x
    exponential,     // out = exp(x a + y)
    tangent,         // out = tanh(a)
    root,            // out = sqrt(a)
    at_least,        // out = max(a, x)
    accumulate_exp,  // out = b + exp(x a + y)
    inverse_root,    // out = 1 / sqrt(a), and 0 where a is 0
    logarithm        // out = log(a)
};
inline constexpr int n_ops = 20;

struct Instruction {
    Op op;
    int out, a, b;
    double x, y;
};

inline constexpr int max_registers = 16;
inline constexpr int max_terms = 8;

// One row of a tile, as the program sees it.
template <class T>
struct RowInputs {
    const T* statistics[max_terms];   // the row of each statistic's tile
    const T* norms_right[max_terms];  // |y|^2 of the columns, for `expanded`
    T norm_left[max_terms];           // |x|^2 of the row
    bool finished[max_terms];         // the tile holds squared distances already
    const T* externals[max_terms];
    const T* right[max_terms];
    T left[max_terms];
    std::int64_t count;     // columns
    std::int64_t diagonal;  // column of the point itself, or -1
};

// What a sweep over variables chose: a number, and which variable has it (-1: none).
struct Chosen {
    double value;
    std::int64_t place;
};

constexpr std::int64_t sweep = 16;         // variables are padded to a multiple of this
constexpr double least_curvature = 5e-13;  // of two variables, against their diagonal of K

template <class T>
struct Kernels {
    int width;  // rows in a panel

    // Adds the statistic of two panels over `depth` columns to out (width x width, rows `stride`
    // apart), or starts it where `first`. Rows of `a` from the `rows`th on may be left undefined.
    // weights: one per column, used by `unequal` only. exponent: p of `power` and `decay`.
    void (*statistic[n_statistics])(const T* a, const T* b, std::int64_t depth, const T* weights,
                                    T exponent, T* out, std::int64_t stride, bool first,
                                    std::int64_t rows);

    // Runs a program on one row; the last instruction writes into `result`, which has room for
    // whole vectors. registers: max_registers arrays of `stride` numbers.
    void (*run)(const Instruction* program, int length, const RowInputs<T>& row, T* registers,
                std::int64_t stride, T* result);

    // Whether all of the numbers are finite.
    bool (*finite)(const T* values, std::int64_t count);

    // out[c][i] = sum_j tile[i][j] v[c][j]: the product with `count` vectors. v has zeros from
    // `columns` to the end of the last vector, and so has the tile. ahead: a tile of the same
    // shape that will be wanted next and may be fetched meanwhile, or null.
    void (*multiply)(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                     const T* v, std::int64_t v_stride, std::int64_t count, T* out,
                     std::int64_t out_stride, const T* ahead);

    // out[c][j] = sum_i tile[i][j] u[i][c]: the product of the transposed tile; out has room for
    // whole vectors.
    void (*multiply_transposed)(const T* tile, std::int64_t stride, std::int64_t rows,
                                std::int64_t columns, const T* u, std::int64_t count, T* out,
                                std::int64_t out_stride);

    // The same, added to what out holds.
    void (*add_transposed)(const T* tile, std::int64_t stride, std::int64_t rows,
                           std::int64_t columns, const T* u, std::int64_t count, T* out,
                           std::int64_t out_stride);

    // codes[i] = round((values[i] - low) / step), at most 65535, and back.
    void (*encode)(const T* values, std::int64_t count, T low, T step, std::uint16_t* codes);
    void (*decode)(const std::uint16_t* codes, std::int64_t count, T low, T step, T* values);

    // The sweeps of sweeps.hpp. Vectors have room up to a whole number of `sweep` variables, where
    // up is infinite and down is minus infinity.
    Chosen (*move)(std::int64_t n, const T* x, double a, const T* y, double b, double* g,
                   const double* up);
    Chosen (*least)(std::int64_t n, const double* g, const double* up);
    Chosen (*partner)(std::int64_t n, const T* row, const T* diagonal, double own, double slope,
                      const double* g, const double* down, double* steepest);
    Chosen (*single)(std::int64_t n, const T* diagonal, const double* g, const double* up,
                     const double* down, double* steepest);
    void (*add_rows)(std::int64_t n, const T* const* rows, const double* weights,
                     std::int64_t count, double* g);

    // out[j][i] = tile[i][j].
    void (*transpose)(const T* tile, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                      T* out, std::int64_t out_stride);

    // The loops of wave_loops.hpp.
    void (*wave_row)(const T* angles, const T* phases, const T* amplitudes, std::int64_t count,
                     T* cosines, T* sines);
    void (*rotate)(T* panel, std::int64_t size, const T* signs);

    // out[o][c] = sum_j v[o][j] s'(x[c], z[j][c]) for the columns c of one panel, where s' is the
    // derivative of a summand by x, 0 at a kink. x: width numbers; z: width numbers for each of
    // `count` points; v: `outputs` rows, v_stride apart; out: width numbers for each output.
    void (*slopes[n_slopes])(const T* x, const T* z, std::int64_t count, const T* v,
                             std::int64_t v_stride, std::int64_t outputs, std::int64_t columns,
                             T exponent, T* out);
};

namespace baseline {
const Kernels<float>& kernels32();
const Kernels<double>& kernels64();
}  // namespace baseline

#ifdef MERCER_X86
namespace avx2 {
const Kernels<float>& kernels32();
const Kernels<double>& kernels64();
}  // namespace avx2

namespace avx512 {
const Kernels<float>& kernels32();
const Kernels<double>& kernels64();
}  // namespace avx512
#endif

}  // namespace mercer
