// Sweeps over all variables of a box-constrained problem: see smo.hpp.
#pragma once

#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

constexpr int double_lanes = Vector<double>::lanes;
constexpr double stride = double_lanes;

inline double_v widen(const double* p) {
    return load(p);
}

inline double_v widen(const float* p) {
#if defined(__AVX512F__)
    return (double_v)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif defined(__AVX2__)
    return (double_v)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    double_v v;
    for (int i = 0; i < double_lanes; ++i) v[i] = static_cast<double>(p[i]);
    return v;
#endif
}

// The largest number of a sweep and its place; of equal ones the first.
struct Largest {
    double_v value;
    double_v place;  // whole numbers below 2**53

    explicit Largest(double least) : value(splat(least)), place(splat(-1.0)) {}

    inline void offer(double_v x, double_v where) {
        const auto better = x > value;
        value = better ? x : value;
        place = better ? where : place;
    }

    inline Chosen best() const {
        Chosen found{value[0], static_cast<std::int64_t>(place[0])};
        for (int i = 1; i < double_lanes; ++i) {
            const auto where = static_cast<std::int64_t>(place[i]);
            const bool first = value[i] == found.value && where < found.place;
            if (value[i] > found.value || first) found = {value[i], where};
        }
        return found;
    }
};

inline double_v first_places() {
    double_v v;
    for (int i = 0; i < double_lanes; ++i) v[i] = i;
    return v;
}

constexpr double nothing = -__builtin_inf();
constexpr double least_normal = 2.3e-308;

// g += a x + b y, then the variable with the least g + up, as its negative.
template <class T>
Chosen sweep_move(std::int64_t n, const T* x, double a, const T* y, double b, double* g,
                  const double* up) {
    Largest one(nothing), two(nothing);
    double_v here = first_places();
    const double_v weight_x = splat(a), weight_y = splat(b), step = splat(stride);
    const auto at = [&](std::int64_t j, Largest& best) {
        const double_v value = load(g + j) + (weight_x * widen(x + j) + weight_y * widen(y + j));
        save(g + j, value);
        best.offer(-(value + load(up + j)), here);
        here = here + step;
    };
    for (std::int64_t j = 0; j < n; j += 2 * double_lanes) {
        at(j, one);
        at(j + double_lanes, two);
    }
    one.offer(two.value, two.place);
    return one.best();
}

// The variable with the least g + up, as its negative.
inline Chosen sweep_least(std::int64_t n, const double* g, const double* up) {
    Largest best(nothing);
    double_v here = first_places();
    for (std::int64_t j = 0; j < n; j += double_lanes) {
        best.offer(-(load(g + j) + load(up + j)), here);
        here = here + splat(stride);
    }
    return best.best();
}

// For a variable of curvature `own` that goes up with slope `slope`, the partner to go down by
// which the objective falls most, (g + down - slope)**2 / curvature, and the largest g + down.
template <class T>
Chosen sweep_partner(std::int64_t n, const T* row, const T* diagonal, double own, double slope,
                     const double* g, const double* down, double* steepest) {
    Largest one(0.0), two(0.0);
    double_v most = splat(nothing), more = splat(nothing), here = first_places();
    const double_v kii = splat(own), start = splat(slope), least = splat(least_curvature);
    const double_v tiny = splat(least_normal);  // a matrix of zeros has no curvature at all
    const double_v step = splat(stride);
    const auto at = [&](std::int64_t j, Largest& best, double_v& high) {
        const double_v value = load(g + j) + load(down + j);
        high = value > high ? value : high;
        const double_v gap = value - start;
        const double_v both = kii + widen(diagonal + j), scaled = least * both;
        const double_v floor = (scaled > -scaled ? scaled : -scaled) + tiny;
        double_v curvature = both - 2 * widen(row + j);
        curvature = curvature > floor ? curvature : floor;
        const double_v gain = gap > double_v{} ? gap * gap / curvature : double_v{};
        best.offer(gain, here);
        here = here + step;
    };
    for (std::int64_t j = 0; j < n; j += 2 * double_lanes) {
        at(j, one, most);
        at(j + double_lanes, two, more);
    }
    most = more > most ? more : most;
    *steepest = most[0];
    for (int i = 1; i < double_lanes; ++i) *steepest = most[i] > *steepest ? most[i] : *steepest;
    one.offer(two.value, two.place);
    return one.best();
}

// The variable by which alone the objective falls most, and the largest violation.
template <class T>
Chosen sweep_single(std::int64_t n, const T* diagonal, const double* g, const double* up,
                    const double* down, double* steepest) {
    Largest best(0.0);
    double_v most = splat(nothing), here = first_places();
    const double_v least = splat(least_normal);
    for (std::int64_t j = 0; j < n; j += double_lanes) {
        const double_v rising = -(load(g + j) + load(up + j)),
                       falling = load(g + j) + load(down + j);
        const double_v slope = rising > falling ? rising : falling;
        most = slope > most ? slope : most;
        double_v curvature = widen(diagonal + j);
        curvature = curvature > least ? curvature : least;
        best.offer(slope > double_v{} ? slope * slope / curvature : double_v{}, here);
        here = here + splat(stride);
    }
    *steepest = most[0];
    for (int i = 1; i < double_lanes; ++i) *steepest = most[i] > *steepest ? most[i] : *steepest;
    return best.best();
}

// g += sum_r weights[r] rows[r], in double precision.
template <class T>
void sweep_rows(std::int64_t n, const T* const* rows, const double* weights, std::int64_t count,
                double* g) {
    constexpr int wide = 4;  // vectors of g in registers
    std::int64_t j = 0;
    for (; j + wide * double_lanes <= n; j += wide * double_lanes) {
        double_v sum[wide];
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) sum[v] = load(g + j + v * double_lanes);
        for (std::int64_t r = 0; r < count; ++r) {
            const double_v weight = splat(weights[r]);
#pragma GCC unroll 4
            for (int v = 0; v < wide; ++v)
                sum[v] = sum[v] + weight * widen(rows[r] + j + v * double_lanes);
        }
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) save(g + j + v * double_lanes, sum[v]);
    }
    for (; j < n; ++j)
        for (std::int64_t r = 0; r < count; ++r)
            g[j] += weights[r] * static_cast<double>(rows[r][j]);
}

}  // namespace
}  // namespace mercer::MERCER_ISA
