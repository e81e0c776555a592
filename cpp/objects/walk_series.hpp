// Sums of powers of the matrix of a product graph: those that converge, and finite ones.
//
// An Operator is `Product`, or anything else with its functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "objects/walk_product.hpp"

namespace mercer::walks {

// Without rounding, conjugate gradients take as many steps as there are vertices.
template <class Operator>
std::int64_t most_steps(const Operator& product) {
    return 1000 + 20 * product.size();
}

// 1'(I - W)^-1 1. The sum of the gains lacks exactly r'(I - W)^-1 r <= r'r / (1 - rho), and 1e-16
// more of W would change it by as much as 1e-16 / (1 - rho) of itself: half the steps that x would
// take.
template <class Operator>
double geometric(const Operator& product, Scratch& scratch) {
    if (!product.has_edges() || product.pairs() == 0) return product.pairs();
    constexpr double enough = 1e-17;
    Gradients gradients(product, 1.0, product.room(gradient_vectors, scratch));
    double total = 0;
    for (std::int64_t left = most_steps(product); left > 0; --left) {
        const double gain = gradients.step();
        if (!(gain > 0)) break;
        total += gain;
        if (gradients.squares() <= enough * total || scratch.stopped(product.work())) return total;
    }
    throw std::runtime_error("RandomWalk: the series of a pair of graphs did not converge.");
}

// 1'(I + W + ... + W^steps) 1 from half as many products: 1'W^(a+b) 1 = (W^a 1)'(W^b 1).
template <class Operator>
double finite(const Operator& product, std::int64_t steps, Scratch& scratch) {
    const std::int64_t size = product.size();
    double total = product.pairs();
    if (!product.has_edges()) return total;
    double* row = product.room(3, scratch);
    double* sizes = row + product.width();
    double* x = sizes + size;
    double* y = x + size;
    product.store_sizes(sizes);
    std::fill(x, x + size, 1.0);
    for (std::int64_t left = steps; left > 0; left -= 2) {
        product.apply(x, y, row);
        total += dot(sizes, x, y, size);
        if (left > 1) total += dot(sizes, y, y, size);
        if (scratch.stopped(product.work())) break;
        std::swap(x, y);
    }
    return total;
}

}  // namespace mercer::walks
