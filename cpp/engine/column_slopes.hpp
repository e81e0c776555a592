// Derivatives of sums of kernels by the columns of points, from the derivatives by a statistic.
#pragma once

#include <cstdint>

#include "engine/panels.hpp"
#include "engine/tile.hpp"
#include "system/pool.hpp"

namespace mercer {

// One statistic between points x_i and z_j. Both are packed column by column: a row of these
// panels is a column of the points.
template <class T>
struct ColumnPairs {
    const Panels<T>& left;
    const Panels<T>& right;
    Slope slope;
    double exponent;
};

// out[i][o][c] = sum_j factors[i][j] coefficients[o][j] s'(x_ic, z_jc), in blocks that stay in
// cache; sums over blocks are in double precision, and in an order that does not depend on threads.
// factors: points x others; coefficients: outputs x others; out: points x outputs x columns, all
// row by row. Throws std::invalid_argument on points of different width. False if `poll` said so.
template <class T>
bool column_slopes(const ColumnPairs<T>& pairs, const T* factors, const T* coefficients,
                   std::int64_t outputs, double* out, const Poll& poll);

}  // namespace mercer
