// The Cholesky factor of a set of variables that grows and shrinks. See polish.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/panels.hpp"

namespace mercer {

// M = R' R with R upper triangular, its rows `stride` apart; below the diagonal anything may stand.
class Factor {
public:
    std::int64_t size() const { return size_; }
    double* row(std::int64_t i) { return values_.get() + i * stride_; }

    // Makes room; M is to be written on and above the diagonal.
    void start(std::int64_t size) {
        size_ = size;
        stride_ = round_up(size + grow, sweep);
        if (stride_ * stride_ > room_) {
            room_ = stride_ * stride_;
            values_ = aligned<double>(room_);
        }
        for (std::int64_t i = 0; i < stride_; ++i) std::fill_n(row(i), stride_, 0.0);
    }

    // Factors M; variables whose pivot is not above `least` depend on those before and are left
    // out. Returns the places of those that stay.
    std::vector<std::int64_t> decompose(const std::vector<double>& least) {
        std::vector<std::int64_t> kept;
        std::vector<double> weights;
        std::vector<const double*> rows;
        for (std::int64_t from = 0; from < size_; from += panel) {
            const std::int64_t to = std::min(from + panel, size_);
            subtract_rows_above(from, to, weights);
            for (std::int64_t s = from; s < to; ++s) {
                rows.clear();
                weights.clear();
                for (std::int64_t r = from; r < s; ++r) {
                    rows.push_back(row(r) + s);
                    weights.push_back(-row(r)[s]);
                }
                double* own = row(s) + s;
                kernels<double>().add_rows(size_ - s, rows.data(), weights.data(), s - from, own);
                if (!(own[0] > least[static_cast<std::size_t>(s)])) {
                    std::fill_n(own, size_ - s, 0.0);
                    continue;
                }
                const double scale = 1 / std::sqrt(own[0]);
                for (std::int64_t j = 0; j < size_ - s; ++j) own[j] *= scale;
                kept.push_back(s);
            }
        }
        compress(kept);
        return kept;
    }

    // v = R'^-1 v.
    void forward(double* v) {
        for (std::int64_t i = 0; i < size_; ++i) {
            const double* from = row(i);
            v[i] /= from[i];
            const double weight = -v[i];
            const double* rest = from + i + 1;
            kernels<double>().add_rows(size_ - i - 1, &rest, &weight, 1, v + i + 1);
        }
    }

    // v = R^-1 v.
    void backward(double* v) {
        for (std::int64_t i = size_ - 1; i >= 0; --i) {
            const double* from = row(i);
            double sum[4] = {v[i], 0, 0, 0};
            std::int64_t j = i + 1;
            for (; j + 4 <= size_; j += 4)
                for (int lane = 0; lane < 4; ++lane) sum[lane] -= from[j + lane] * v[j + lane];
            for (; j < size_; ++j) sum[0] -= from[j] * v[j];
            v[i] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / from[i];
        }
    }

    // Adds a variable; column: R'^-1 times its column of M; root: of what is left of its diagonal.
    void append(const std::vector<double>& column, double root) {
        if (size_ + 1 >= stride_) widen();
        for (std::int64_t i = 0; i < size_; ++i)
            row(i)[size_] = column[static_cast<std::size_t>(i)];
        row(size_)[size_] = root;
        ++size_;
    }

    // Lets a variable go: its column leaves, and rotations of rows make R triangular again.
    void remove(std::int64_t place) {
        for (std::int64_t i = 0; i < size_; ++i) {
            double* from = row(i) + std::max(i, place + 1);
            std::copy(from, row(i) + size_, from - 1);
            row(i)[size_ - 1] = 0.0;
        }
        --size_;
        for (std::int64_t i = place; i < size_; ++i) {
            double* __restrict above = row(i);
            double* __restrict below = row(i + 1);
            const double length = std::hypot(above[i], below[i]);
            const double cosine = above[i] / length, sine = below[i] / length;
            for (std::int64_t j = i; j < size_; ++j) {
                const double x = above[j], y = below[j];
                above[j] = cosine * x + sine * y;
                below[j] = cosine * y - sine * x;
            }
        }
    }

private:
    static constexpr std::int64_t panel = 32;
    static constexpr std::int64_t grow = 24;  // variables that may join before rows move

    // Subtracts from some rows of M what the rows of R above them account for.
    void subtract_rows_above(std::int64_t from, std::int64_t to, std::vector<double>& weights) {
        if (from == 0) return;
        const std::int64_t count = to - from;
        weights.resize(static_cast<std::size_t>(from * count));
        for (std::int64_t r = 0; r < from; ++r)
            for (std::int64_t c = 0; c < count; ++c)
                weights[static_cast<std::size_t>(r * count + c)] = -row(r)[from + c];
        kernels<double>().add_transposed(row(0) + from, stride_, from, size_ - from, weights.data(),
                                         count, row(from) + from, stride_);
    }

    // Keeps some of the rows and columns; rows of those that go are 0.
    void compress(const std::vector<std::int64_t>& kept) {
        const auto count = static_cast<std::int64_t>(kept.size());
        if (count == size_) return;
        for (std::int64_t i = 0; i < count; ++i) {
            const double* from = row(kept[static_cast<std::size_t>(i)]);
            double* to = row(i);
            for (std::int64_t j = i; j < count; ++j)
                to[j] = from[kept[static_cast<std::size_t>(j)]];
        }
        size_ = count;
    }

    // Moves the rows apart, so that more variables can join.
    void widen() {
        const std::int64_t stride = round_up(stride_ + stride_ / 4 + grow, sweep);
        Aligned<double> values = aligned<double>(stride * stride);
        std::fill_n(values.get(), stride * stride, 0.0);
        for (std::int64_t i = 0; i < size_; ++i)
            std::copy_n(row(i), size_, values.get() + i * stride);
        values_ = std::move(values);
        stride_ = stride;
        room_ = stride * stride;
    }

    std::int64_t size_ = 0, stride_ = 0, room_ = 0;
    Aligned<double> values_;
};

}  // namespace mercer
