// Counts of tokens that meet: all pairs of two collections of sparse rows, into a dense matrix.
#pragma once

#include <cstdint>

#include "system/pool.hpp"

namespace mercer {

// Row r has values[k] in columns[k] for ends[r] <= k < ends[r + 1], each column once.
struct CountRows {
    const std::int64_t* ends;
    const std::int32_t* columns;
    const double* values;
    std::int64_t rows;
};

enum class Meeting { product, minimum };

// out[i][j] += sum over common columns c of x_ic y_jc, or of min(x_ic, y_jc). same: both are the
// same rows and out is symmetric; half of it is computed. width: the number of columns.
// False if poll asked to stop.
bool add_meetings(const CountRows& left, const CountRows& right, std::int64_t width,
                  Meeting meeting, bool same, double* out, const Poll& poll);

}  // namespace mercer
