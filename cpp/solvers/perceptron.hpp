// The perceptron on a kernel matrix that is in memory.
#pragma once

#include <cstdint>

#include "solvers/smo.hpp"

namespace mercer {

// Scores of all points, classes x points, without the offset of each class. A score is a sum of
// terms whose sizes add up to length * root + count for a point with the given root of k(x, x);
// against that, it is off by rounding + count * drift at most.
struct Scores {
    double* values;
    double* offset;
    std::int64_t classes, points;
    const double* roots;
    double length, count, rounding, drift;
};

struct WalkResult {
    std::int64_t visited;  // visits that are done
    std::int64_t made;     // mistakes among them
};

// Visits points in turn, and after each mistake adds the row of K to the score of the point's own
// class and takes it from that of its best rival. Stops before a point whose scores are too close
// to tell. places, rivals: room for one mistake per visit, its place in the order and the rival.
template <class T>
WalkResult walk(const KernelRows<T>& K, const std::int64_t* order, std::int64_t visits,
                const std::int64_t* codes, Scores& scores, std::int64_t* places,
                std::int64_t* rivals);

}  // namespace mercer
