#include "engine/normal.hpp"

#include <algorithm>
#include <vector>

#include "engine/panels.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

constexpr std::int64_t cache_bytes = 400'000;  // of rows that wait for their second use
constexpr std::int64_t strips = 12;            // of rows whose sums are added in T

template <class T>
class NormalProduct {
public:
    NormalProduct(const Stored<T>& matrix, const double* weights, const double* v,
                  std::int64_t count)
        : matrix_(matrix), weights_(weights), count_(count) {
        const std::int64_t width = kernels<T>().width;
        whole_ = matrix.columns / width * width;
        depth_ = round_up(matrix.columns, width);
        const std::int64_t row_bytes = matrix.columns * static_cast<std::int64_t>(sizeof(T));
        strip_ = std::clamp<std::int64_t>(cache_bytes / row_bytes / 3 * 3, 6, 48);
        v_ = aligned<T>(depth_ * count);
        for (std::int64_t j = 0; j < matrix.columns; ++j)
            for (std::int64_t c = 0; c < count; ++c)
                v_[at(c, j)] = static_cast<T>(v[j * count + c]);
        for (int w = 0; w < num_threads(); ++w) {
            Worker worker{aligned<T>(strip_ * count),
                          aligned<T>(strip_ * count),
                          aligned<T>(depth_ * count),
                          {}};
            worker.sums.assign(static_cast<std::size_t>(depth_ * count), 0.0);
            workers_.push_back(std::move(worker));
        }
    }

    std::int64_t tasks() const { return (matrix_.rows + strips * strip_ - 1) / (strips * strip_); }

    void run(std::int64_t task, int number) {
        Worker& own = workers_[static_cast<std::size_t>(number)];
        std::fill_n(own.part.get(), depth_ * count_, T(0));
        const std::int64_t last = std::min((task + 1) * strips * strip_, matrix_.rows);
        for (std::int64_t row = task * strips * strip_; row < last; row += strip_)
            add(row, std::min(strip_, last - row), own);
        for (std::int64_t k = 0; k < depth_ * count_; ++k)
            own.sums[static_cast<std::size_t>(k)] +=
                static_cast<double>(own.part[static_cast<std::size_t>(k)]);
    }

    void finish(double* out) const {
        for (std::int64_t j = 0; j < matrix_.columns; ++j)
            for (std::int64_t c = 0; c < count_; ++c) {
                double total = 0;
                for (const auto& worker : workers_) total += worker.sums[at(c, j)];
                out[j * count_ + c] = total;
            }
    }

private:
    struct Worker {
        Aligned<T> inner, weighted;  // strip x count: K v by vector, W K v by row
        Aligned<T> part;             // count x depth
        std::vector<double> sums;    // the same
    };

    std::size_t at(std::int64_t c, std::int64_t j) const {
        return static_cast<std::size_t>(c * depth_ + j);
    }

    void add(std::int64_t row, std::int64_t rows, Worker& own) {
        const T* tile = matrix_.values + row * matrix_.columns;
        const auto& table = kernels<T>();
        table.multiply(tile, matrix_.columns, rows, whole_, v_.get(), depth_, count_,
                       own.inner.get(), strip_, nullptr);
        for (std::int64_t i = 0; i < rows; ++i) {
            const T weight = static_cast<T>(weights_[row + i]);
            for (std::int64_t c = 0; c < count_; ++c) {
                T sum = own.inner[static_cast<std::size_t>(c * strip_ + i)];
                for (std::int64_t j = whole_; j < matrix_.columns; ++j)
                    sum += tile[i * matrix_.columns + j] * v_[at(c, j)];
                own.weighted[static_cast<std::size_t>(i * count_ + c)] = weight * sum;
            }
        }
        table.add_transposed(tile, matrix_.columns, rows, whole_, own.weighted.get(), count_,
                             own.part.get(), depth_);
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = whole_; j < matrix_.columns; ++j)
                for (std::int64_t c = 0; c < count_; ++c)
                    own.part[at(c, j)] += tile[i * matrix_.columns + j] *
                                          own.weighted[static_cast<std::size_t>(i * count_ + c)];
    }

    Stored<T> matrix_;
    const double* weights_;
    std::int64_t count_;
    std::int64_t whole_ = 0, depth_ = 0, strip_ = 0;
    Aligned<T> v_;  // count x depth
    std::vector<Worker> workers_;
};

}  // namespace

template <class T>
bool normal_product(const Stored<T>& matrix, const double* weights, const double* v,
                    std::int64_t count, double* out, const Poll& poll) {
    if (matrix.columns == 0 || count == 0) return true;
    NormalProduct<T> product(matrix, weights, v, count);
    const bool done = parallel_in_turn(
        product.tasks(), [&](std::int64_t task, int worker) { product.run(task, worker); }, poll);
    if (done) product.finish(out);
    return done;
}

template bool normal_product(const Stored<float>&, const double*, const double*, std::int64_t,
                             double*, const Poll&);
template bool normal_product(const Stored<double>&, const double*, const double*, std::int64_t,
                             double*, const Poll&);

}  // namespace mercer
