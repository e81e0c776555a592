#include "engine/column_slopes.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "system/cpu.hpp"

namespace mercer {
namespace {

constexpr std::int64_t points_at_once = 32;   // of a task: they share what is in cache
constexpr std::int64_t others_at_once = 256;  // whose panel of columns stays in cache
constexpr double alone_below = 1 << 18;       // summands: some 100 microseconds

}  // namespace

template <class T>
bool column_slopes(const ColumnPairs<T>& pairs, const T* factors, const T* coefficients,
                   std::int64_t outputs, double* out, const Poll& poll) {
    const auto& left = pairs.left;
    const auto& right = pairs.right;
    const std::int64_t columns = left.rows(), points = left.columns(), others = right.columns();
    if (right.rows() != columns)
        throw std::invalid_argument("column_slopes: both sides must have the same columns.");
    const auto& table = kernels<T>();
    const std::int64_t width = table.width;
    const auto sum = table.slopes[static_cast<int>(pairs.slope)];
    const auto exponent = static_cast<T>(pairs.exponent);
    std::fill_n(out, points * outputs * columns, 0.0);

    const double summands =
        static_cast<double>(points) * static_cast<double>(others) * static_cast<double>(columns);
    const bool alone = summands * static_cast<double>(outputs) <= alone_below;
    const std::int64_t workers = alone ? 1 : num_threads();
    std::vector<Aligned<T>> weights, sums;
    for (std::int64_t w = 0; w < workers; ++w) {
        weights.push_back(aligned<T>(outputs * others_at_once));
        sums.push_back(aligned<T>(outputs * width));
    }
    const std::int64_t bands = (points + points_at_once - 1) / points_at_once;
    return parallel_for(
        bands * left.panels(),
        [&](std::int64_t task, int worker) {
            const std::int64_t panel = task / bands, first = task % bands * points_at_once;
            const std::int64_t last = std::min(first + points_at_once, points);
            const std::int64_t filled = std::min(width, columns - panel * width);
            T* v = weights[static_cast<std::size_t>(worker)].get();
            T* found = sums[static_cast<std::size_t>(worker)].get();
            for (std::int64_t from = 0; from < others; from += others_at_once) {
                const std::int64_t count = std::min(others_at_once, others - from);
                for (std::int64_t i = first; i < last; ++i) {
                    const T* factor = factors + i * others + from;
                    for (std::int64_t o = 0; o < outputs; ++o) {
                        const T* coefficient = coefficients + o * others + from;
                        for (std::int64_t j = 0; j < count; ++j)
                            v[o * others_at_once + j] = factor[j] * coefficient[j];
                    }
                    sum(left.panel(panel) + i * width, right.panel(panel) + from * width, count, v,
                        others_at_once, outputs, filled, exponent, found);
                    for (std::int64_t o = 0; o < outputs; ++o) {
                        double* row = out + (i * outputs + o) * columns + panel * width;
                        for (std::int64_t c = 0; c < filled; ++c)
                            row[c] += static_cast<double>(found[o * width + c]);
                    }
                }
            }
        },
        poll, alone);
}

template bool column_slopes(const ColumnPairs<float>&, const float*, const float*, std::int64_t,
                            double*, const Poll&);
template bool column_slopes(const ColumnPairs<double>&, const double*, const double*, std::int64_t,
                            double*, const Poll&);

}  // namespace mercer
