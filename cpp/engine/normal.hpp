// K' W K v of a matrix that is stored, in one pass over it.
#pragma once

#include <cstdint>

#include "engine/engine.hpp"
#include "system/pool.hpp"

namespace mercer {

// A matrix in memory, row after row.
template <class T>
struct Stored {
    const T* values;
    std::int64_t rows, columns;
};

// out = K' W K v for `count` vectors: each entry of K serves twice while it is in the cache.
// v, out: columns x count; weights: one per row. Products in T, sums of many rows in double
// precision. Returns false if `poll` asked to stop.
template <class T>
bool normal_product(const Stored<T>& matrix, const double* weights, const double* v,
                    std::int64_t count, double* out, const Poll& poll);

// The same where rows are computed anew and never leave the cache.
template <class T>
bool normal_product(const Job<T>& job, const double* weights, const double* v, std::int64_t count,
                    double* out, const Poll& poll);

}  // namespace mercer
