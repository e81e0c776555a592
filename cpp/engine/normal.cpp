#include "engine/normal.hpp"

#include <algorithm>
#include <vector>

#include "engine/panels.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

constexpr std::int64_t cache_bytes = 400'000;  // of rows that wait for their second use
constexpr std::int64_t narrow = 32;            // points of a panel of which all are taken at once
constexpr std::int64_t strips = 12;            // of rows whose sums are added in T

template <class T>
class NormalProduct {
public:
    // strip: rows that are used together.
    NormalProduct(std::int64_t rows, std::int64_t columns, std::int64_t strip,
                  const double* weights, const double* v, std::int64_t count)
        : rows_(rows), columns_(columns), strip_(strip), weights_(weights), count_(count) {
        const std::int64_t width = kernels<T>().width;
        whole_ = columns / width * width;
        depth_ = round_up(columns, width);
        v_ = aligned<T>(depth_ * count);
        for (std::int64_t j = 0; j < columns; ++j)
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

    std::int64_t tasks() const { return (rows_ + strips * strip_ - 1) / (strips * strip_); }
    std::int64_t depth() const { return depth_; }

    // matrix: returns some rows of it, `stride` apart, given the first, their number and the
    // worker.
    template <class Rows>
    void run(std::int64_t task, int number, std::int64_t stride, Rows matrix) {
        Worker& own = workers_[static_cast<std::size_t>(number)];
        std::fill_n(own.part.get(), depth_ * count_, T(0));
        const std::int64_t last = std::min((task + 1) * strips * strip_, rows_);
        for (std::int64_t row = task * strips * strip_; row < last; row += strip_) {
            const std::int64_t rows = std::min(strip_, last - row);
            add(matrix(row, rows, number), stride, row, rows, own);
        }
        for (std::int64_t k = 0; k < depth_ * count_; ++k)
            own.sums[static_cast<std::size_t>(k)] +=
                static_cast<double>(own.part[static_cast<std::size_t>(k)]);
    }

    void finish(double* out) const {
        for (std::int64_t j = 0; j < columns_; ++j)
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

    void add(const T* tile, std::int64_t stride, std::int64_t row, std::int64_t rows, Worker& own) {
        const auto& table = kernels<T>();
        table.multiply(tile, stride, rows, whole_, v_.get(), depth_, count_, own.inner.get(),
                       strip_, nullptr);
        for (std::int64_t i = 0; i < rows; ++i) {
            const T weight = static_cast<T>(weights_[row + i]);
            for (std::int64_t c = 0; c < count_; ++c) {
                T sum = own.inner[static_cast<std::size_t>(c * strip_ + i)];
                for (std::int64_t j = whole_; j < columns_; ++j)
                    sum += tile[i * stride + j] * v_[at(c, j)];
                own.weighted[static_cast<std::size_t>(i * count_ + c)] = weight * sum;
            }
        }
        table.add_transposed(tile, stride, rows, whole_, own.weighted.get(), count_, own.part.get(),
                             depth_);
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = whole_; j < columns_; ++j)
                for (std::int64_t c = 0; c < count_; ++c)
                    own.part[at(c, j)] += tile[i * stride + j] *
                                          own.weighted[static_cast<std::size_t>(i * count_ + c)];
    }

    std::int64_t rows_, columns_, strip_;
    const double* weights_;
    std::int64_t count_;
    std::int64_t whole_ = 0, depth_ = 0;
    Aligned<T> v_;  // count x depth
    std::vector<Worker> workers_;
};

}  // namespace

template <class T>
bool normal_product(const Stored<T>& matrix, const double* weights, const double* v,
                    std::int64_t count, double* out, const Poll& poll) {
    if (matrix.columns == 0 || count == 0) return true;
    const std::int64_t row_bytes = matrix.columns * static_cast<std::int64_t>(sizeof(T));
    const auto strip = std::clamp<std::int64_t>(cache_bytes / row_bytes / 3 * 3, 6, 48);
    NormalProduct<T> product(matrix.rows, matrix.columns, strip, weights, v, count);
    const auto stored = [&](std::int64_t row, std::int64_t, int) {
        return matrix.values + row * matrix.columns;
    };
    const bool done = parallel_in_turn(
        product.tasks(),
        [&](std::int64_t task, int worker) { product.run(task, worker, matrix.columns, stored); },
        poll);
    if (done) product.finish(out);
    return done;
}

template <class T>
bool normal_product(const Job<T>& job, const double* weights, const double* v, std::int64_t count,
                    double* out, const Poll& poll) {
    if (job.columns() == 0 || count == 0) return true;
    // Half of a wide panel is a whole number of the groups of rows that statistics take.
    const std::int64_t width = kernels<T>().width, strip = width > narrow ? width / 2 : width;
    NormalProduct<T> product(job.size(), job.columns(), strip, weights, v, count);
    auto scratch = job.scratches(num_threads());
    std::vector<Aligned<T>> room;
    for (int w = 0; w < num_threads(); ++w) room.push_back(aligned<T>(strip * product.depth()));
    const auto computed = [&](std::int64_t row, std::int64_t rows, int worker) {
        const auto own = static_cast<std::size_t>(worker);
        for (std::int64_t j = 0; j < job.columns(); j += job.tile_columns()) {
            const auto columns = std::min(job.tile_columns(), job.columns() - j);
            job.evaluate_rows({row, j, rows, columns}, scratch[own], room[own].get() + j,
                              product.depth());
        }
        return static_cast<const T*>(room[own].get());
    };
    const bool done = parallel_in_turn(
        product.tasks(),
        [&](std::int64_t task, int worker) {
            product.run(task, worker, product.depth(), computed);
        },
        poll);
    if (done) product.finish(out);
    return done;
}

template bool normal_product(const Job<float>&, const double*, const double*, std::int64_t, double*,
                             const Poll&);
template bool normal_product(const Job<double>&, const double*, const double*, std::int64_t,
                             double*, const Poll&);
template bool normal_product(const Stored<float>&, const double*, const double*, std::int64_t,
                             double*, const Poll&);
template bool normal_product(const Stored<double>&, const double*, const double*, std::int64_t,
                             double*, const Poll&);

}  // namespace mercer
