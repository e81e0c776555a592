// The product graph of two graphs as an operator, and the solver that works with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "objects/random_walks.hpp"

namespace mercer::walks {

// Loops with four sums that do not wait for each other, over arrays that do not overlap.

inline double total(const double (&sums)[4]) {
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// x'y.
inline double dot(const double* x, const double* y, std::int64_t count) {
    double sums[4] = {0, 0, 0, 0};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (int lane = 0; lane < 4; ++lane) sums[lane] += x[k + lane] * y[k + lane];
    for (; k < count; ++k) sums[0] += x[k] * y[k];
    return total(sums);
}

// sum sizes x y.
inline double dot(const double* sizes, const double* x, const double* y, std::int64_t count) {
    double sums[4] = {0, 0, 0, 0};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (int lane = 0; lane < 4; ++lane)
            sums[lane] += sizes[k + lane] * x[k + lane] * y[k + lane];
    for (; k < count; ++k) sums[0] += sizes[k] * x[k] * y[k];
    return total(sums);
}

// y = a x + b y.
inline void add_scaled(double a, const double* __restrict x, double b, double* __restrict y,
                       std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) y[k] = a * x[k] + b * y[k];
}

// The product graph of two graphs, as the blocks that it is applied by.
class Product {
public:
    Product(const WalkGraphs& left, std::int64_t i, const WalkGraphs& right, std::int64_t j) {
        struct Place {
            std::int64_t offset, width;
        };
        std::vector<Place> places(static_cast<std::size_t>(left.groups_end(i) - left.groups(i)));
        const auto* mine = left.groups(i);
        const auto* theirs = right.groups(j);
        while (mine != left.groups_end(i) && theirs != right.groups_end(j)) {
            if (mine->code < theirs->code) {
                ++mine;
            } else if (theirs->code < mine->code) {
                ++theirs;
            } else {
                places[static_cast<std::size_t>(mine - left.groups(i))] = {size_, theirs->classes};
                rectangles_.push_back({left.class_sizes(*mine), right.class_sizes(*theirs),
                                       left.class_nodes(*mine), right.class_nodes(*theirs),
                                       mine->classes, theirs->classes});
                size_ += mine->classes * theirs->classes;
                width_ = std::max(width_, theirs->classes);
                pairs_ += mine->nodes * theirs->nodes;
                ++mine, ++theirs;
            }
        }
        const auto key = [](const WalkGraphs::Kind& kind) {
            return std::tie(kind.tail_code, kind.edge_code, kind.head_code);
        };
        const WalkGraphs::Kind* a = left.kinds(i);
        const WalkGraphs::Kind* b = right.kinds(j);
        while (a != left.kinds_end(i) && b != right.kinds_end(j)) {
            if (key(*a) < key(*b)) {
                ++a;
            } else if (key(*b) < key(*a)) {
                ++b;
            } else {
                const Place to = places[static_cast<std::size_t>(a->tail_group)];
                const Place from = places[static_cast<std::size_t>(a->head_group)];
                blocks_.push_back({left.by_head(a->first), left.by_head(a->last),
                                   right.by_turn(b->first), right.by_turn(b->last), to.offset,
                                   to.width, from.offset, from.width});
                work_ += (a->last - a->first) * (to.width + b->last - b->first);
                ++a, ++b;
            }
        }
    }

    std::int64_t size() const { return size_; }
    double pairs() const { return pairs_; }  // of nodes with equal labels
    std::int64_t width() const { return width_; }
    bool has_edges() const { return !blocks_.empty(); }
    std::int64_t work() const { return size_ + work_; }  // about the steps of a product, at most

    // Room for a row and for so many vectors after it.
    double* room(std::int64_t vectors, Scratch& scratch) const {
        scratch.numbers.resize(static_cast<std::size_t>(width_ + vectors * size_));
        return scratch.numbers.data();
    }

    // How many pairs of nodes each entry of a vector stands for: inner products weigh with it, and
    // W is symmetric under it.
    void store_sizes(double* sizes) const {
        for (const Rectangle& part : rectangles_)
            for (std::int64_t a = 0; a < part.rows; ++a)
                for (std::int64_t b = 0; b < part.columns; ++b)
                    *sizes++ = part.left[a] * part.right[b];
    }

    // values[k] = function(u, v) for the nodes u and v of each entry.
    template <class Function>
    void store(const Function& function, double* values) const {
        for (const Rectangle& part : rectangles_)
            for (std::int64_t a = 0; a < part.rows; ++a)
                for (std::int64_t b = 0; b < part.columns; ++b)
                    *values++ = function(part.left_nodes[a], part.right_nodes[b]);
    }

    // y = W x; `row` has room for `width` numbers.
    void apply(const double* x, double* y, double* row) const {
        std::fill(y, y + size_, 0.0);
        for (const Block& block : blocks_) {
            std::int64_t known = -1;  // the head for which `row` is x_head B'
            for (const WalkGraphs::Arc* arc = block.left; arc != block.left_end; ++arc) {
                if (arc->head != known) {
                    known = arc->head;
                    block.times_right(x + block.from + known * block.from_width, row);
                }
                add_scaled(arc->weight, row, 1.0, y + block.to + arc->tail * block.to_width,
                           block.to_width);
            }
        }
    }

private:
    struct Block {
        const WalkGraphs::Arc *left, *left_end, *right, *right_end;
        std::int64_t to, to_width, from, from_width;

        void times_right(const double* x, double* row) const {
            std::fill(row, row + to_width, 0.0);
            for (const WalkGraphs::Arc* arc = right; arc != right_end; ++arc)
                row[arc->tail] += arc->weight * x[arc->head];
        }
    };

    struct Rectangle {
        const double *left, *right;  // sizes
        const std::int64_t *left_nodes, *right_nodes;
        std::int64_t rows, columns;
    };

    std::int64_t size_ = 0, width_ = 0, work_ = 0;
    double pairs_ = 0;
    std::vector<Rectangle> rectangles_;
    std::vector<Block> blocks_;
};

inline constexpr std::int64_t gradient_vectors = 4;

// The method of conjugate gradients for (I - scale * W) x = 1, step by step; W is a Product or
// anything else with its functions.
template <class Operator>
class Gradients {
public:
    // memory: the product's room for `gradient_vectors` vectors.
    Gradients(const Operator& product, double scale, double* memory)
        : product_(product),
          scale_(scale),
          size_(product.size()),
          row_(memory),
          sizes_(memory + product.width()),
          r_(sizes_ + size_),
          p_(r_ + size_),
          q_(p_ + size_),
          squares_(product.pairs()) {
        product.store_sizes(sizes_);
        std::fill(r_, r_ + size_, 1.0);
        std::fill(p_, p_ + size_, 1.0);
    }

    double squares() const { return squares_; }  // r'r
    const double* residual() const { return r_; }

    // Takes a step and returns how much 1'x grows by it; x, if given, is kept.
    // 0 if I - scale * W turns out not to be positive definite.
    double step(double* x = nullptr) {
        product_.apply(p_, q_, row_);
        add_scaled(1.0, p_, -scale_, q_, size_);
        const double length = squares_ / dot(sizes_, p_, q_, size_), gain = length * squares_;
        if (!(length > 0) || !std::isfinite(length)) return 0;
        if (x != nullptr) add_scaled(length, p_, 1.0, x, size_);
        add_scaled(-length, q_, 1.0, r_, size_);
        const double before = squares_;
        squares_ = dot(sizes_, r_, r_, size_);
        add_scaled(1.0, r_, squares_ / before, p_, size_);
        return gain;
    }

private:
    const Operator& product_;
    double scale_;
    std::int64_t size_;
    double *row_, *sizes_, *r_, *p_, *q_;
    double squares_;
};

}  // namespace mercer::walks
