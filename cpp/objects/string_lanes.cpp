// Compiled once for each instruction set, with MERCER_ISA naming it. See string_lanes.hpp.
#include "objects/string_lanes.hpp"

#include "system/simd.hpp"

namespace mercer::MERCER_ISA {
namespace {

constexpr int lanes = Vector<double>::lanes;

// Takes numbers below the smallest normal one for zero while it lives: weights of long gaps end
// there, and are slow.
struct NoSubnormals {
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    NoSubnormals() { _mm_setcsr(before | 0x8040); }
    ~NoSubnormals() { _mm_setcsr(before); }
#endif
};

inline double_v where(int64_v match, double_v x) {
    return (double_v)((int64_v)x & match);
}

// All ones in the lanes whose token it is.
inline int64_v matches(const std::int64_t* p, int64_v token) {
    int64_v v;
    __builtin_memcpy(&v, p, sizeof v);
#if defined(__x86_64__) && !defined(__SSE4_1__)
    // There is no comparison of 64 bits yet: both halves must be equal.
    const __m128i halves = _mm_cmpeq_epi32((__m128i)v, (__m128i)token);
    return (int64_v)_mm_and_si128(halves, _mm_shuffle_epi32(halves, 0xb1));
#else
    return v == token;
#endif
}

// With D_p(i, j) the weight of the pairs of subsequences of length p that end at i and j,
//
//     D_1 = [s_i = t_j],  D_p+1(i, j) = [s_i = t_j] sum over i' < i, j' < j of
//                                       decay^(i - i' - 1 + j - j' - 1) D_p(i', j').
//
// above: the sum over i' at column j, kept from row to row; before: the sum over both, which runs
// along the row. fixed: the number of levels that have them, length - 1, if the compiler may know
// it; else -1.
template <int groups, int fixed, bool every>
void sums_of(const std::int64_t* left, std::int64_t rows, const std::int64_t* right,
             std::int64_t columns, int length, double decay, double* memory, double* sums) {
    const int levels = fixed >= 0 ? fixed : length - 1;
    const std::int64_t place = static_cast<std::int64_t>(levels) * groups * lanes;
    const double_v shrink = splat(decay), one = splat(1.0);
    double_v kept[fixed > 0 ? fixed : 1][groups];
    double* const running = memory + columns * place;
    double_v last[groups];
    for (int g = 0; g < groups; ++g) last[g] = load(sums + place + g * lanes);
    for (std::int64_t i = 0; i < rows; ++i) {
        int64_v token = {};
        token = token + left[i];
        if constexpr (fixed >= 0) {
            for (auto& level : kept)
                for (int g = 0; g < groups; ++g) level[g] = double_v{};
        } else {
            for (std::int64_t k = 0; k < place; ++k) running[k] = 0.0;
        }
        double* above = memory;
        for (std::int64_t j = 0; j < columns; ++j, above += place) {
#pragma GCC unroll 2
            for (int g = 0; g < groups; ++g) {
                const int64_v match = matches(right + (j * groups + g) * lanes, token);
                double_v ending = where(match, one);
#pragma GCC unroll 8
                for (int p = 0; p < levels; ++p) {
                    const int at = (p * groups + g) * lanes;
                    if constexpr (every) save(sums + at, load(sums + at) + ending);
                    const double_v sum = load(above + at);
                    save(above + at, shrink * sum + ending);
                    if constexpr (fixed >= 0) {
                        ending = where(match, kept[p][g]);
                        kept[p][g] = shrink * kept[p][g] + sum;
                    } else {
                        const double_v before = load(running + at);
                        ending = where(match, before);
                        save(running + at, shrink * before + sum);
                    }
                }
                last[g] = last[g] + ending;
            }
        }
    }
    for (int g = 0; g < groups; ++g) save(sums + place + g * lanes, last[g]);
}

template <int groups, bool every>
void choose_length(const std::int64_t* left, std::int64_t rows, const std::int64_t* right,
                   std::int64_t columns, int length, double decay, double* memory, double* sums) {
    constexpr decltype(&sums_of<groups, -1, every>) known[] = {
        sums_of<groups, 0, every>, sums_of<groups, 1, every>, sums_of<groups, 2, every>,
        sums_of<groups, 3, every>, sums_of<groups, 4, every>, sums_of<groups, 5, every>};
    constexpr int most = sizeof known / sizeof known[0];
    const auto run = length <= most ? known[length - 1] : sums_of<groups, -1, every>;
    const NoSubnormals guard;
    run(left, rows, right, columns, length, decay, memory, sums);
}

template <int groups>
void subsequence_sums(const std::int64_t* left, std::int64_t rows, const std::int64_t* right,
                      std::int64_t columns, int length, double decay, bool every, double* memory,
                      double* sums) {
    const auto run = every ? choose_length<groups, true> : choose_length<groups, false>;
    run(left, rows, right, columns, length, decay, memory, sums);
}

}  // namespace

const StringLanes& string_lanes() {
    static constexpr StringLanes table{lanes, subsequence_sums<1>, subsequence_sums<2>};
    return table;
}

}  // namespace mercer::MERCER_ISA
