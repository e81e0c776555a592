// The product graph of two graphs as an operator, and the solver that works with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "random_walks.hpp"

namespace mercer::walks {

inline double dot(const double* x, const double* y, std::int64_t count) {
    double sums[4] = {0, 0, 0, 0};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (int lane = 0; lane < 4; ++lane) sums[lane] += x[k + lane] * y[k + lane];
    for (; k < count; ++k) sums[0] += x[k] * y[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
                places[static_cast<std::size_t>(mine - left.groups(i))] = {size_, theirs->size};
                size_ += mine->size * theirs->size;
                width_ = std::max(width_, theirs->size);
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
                ++a, ++b;
            }
        }
    }

    std::int64_t size() const { return size_; }
    std::int64_t width() const { return width_; }
    bool has_edges() const { return !blocks_.empty(); }

    // Room for a row and for so many vectors after it.
    double* room(std::int64_t vectors, Scratch& scratch) const {
        scratch.numbers.resize(static_cast<std::size_t>(width_ + vectors * size_));
        return scratch.numbers.data();
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
                double* out = y + block.to + arc->tail * block.to_width;
                const double weight = arc->weight;
                for (std::int64_t k = 0; k < block.to_width; ++k) out[k] += weight * row[k];
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

    std::int64_t size_ = 0, width_ = 0;
    std::vector<Block> blocks_;
};

// The method of conjugate gradients for (I - scale * W) x = 1, step by step.
class Gradients {
public:
    // memory: the product's room for three vectors.
    Gradients(const Product& product, double scale, double* memory)
        : product_(product),
          scale_(scale),
          size_(product.size()),
          row_(memory),
          r_(memory + product.width()),
          p_(r_ + size_),
          q_(p_ + size_) {
        std::fill(r_, r_ + size_, 1.0);
        std::fill(p_, p_ + size_, 1.0);
        squares_ = static_cast<double>(size_);
    }

    double squares() const { return squares_; }  // r'r
    const double* residual() const { return r_; }

    // Takes a step and returns how much 1'x grows by it, to which x, if given, is updated as well.
    // 0 if I - scale * W turns out not to be positive definite.
    double step(double* x = nullptr) {
        product_.apply(p_, q_, row_);
        for (std::int64_t k = 0; k < size_; ++k) q_[k] = p_[k] - scale_ * q_[k];
        const double length = squares_ / dot(p_, q_, size_);
        if (!(length > 0) || !std::isfinite(length)) return 0;
        if (x != nullptr)
            for (std::int64_t k = 0; k < size_; ++k) x[k] += length * p_[k];
        for (std::int64_t k = 0; k < size_; ++k) r_[k] -= length * q_[k];
        const double gain = length * squares_, before = squares_;
        squares_ = dot(r_, r_, size_);
        const double share = squares_ / before;
        for (std::int64_t k = 0; k < size_; ++k) p_[k] = r_[k] + share * p_[k];
        return gain;
    }

private:
    const Product& product_;
    double scale_;
    std::int64_t size_;
    double *row_, *r_, *p_, *q_;
    double squares_ = 0;
};

}  // namespace mercer::walks
