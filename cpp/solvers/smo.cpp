#include "solvers/smo.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "solvers/polish.hpp"
#include "solvers/smo_steps.hpp"

namespace mercer {

namespace {

constexpr std::int64_t few_entries = 1 << 16;  // of K: to read them is less than to wake a thread

template <class T>
void check(const KernelRows<T>& K, const std::int64_t* slots, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        if (slots[i] < 0 || slots[i] >= K.rows)
            throw std::invalid_argument("smo: a slot must be one of the rows.");
}

template <class T>
void check_columns(const KernelRows<T>& K, const std::int64_t* columns, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j)
        if (columns[j] < 0 || columns[j] >= K.columns)
            throw std::invalid_argument("smo: a column must exist.");
}

// Columns that follow one another: where each run starts, and how many there are, at most `most`.
std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(
    const std::int64_t* columns, std::int64_t count,
    std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    for (std::int64_t j = 0; j < count; ++j) {
        if (j > 0 && columns[j] == columns[j - 1] + 1 && runs.back().second < most)
            ++runs.back().second;
        else
            runs.emplace_back(columns[j], 1);
    }
    return runs;
}

}  // namespace

template <class T>
void Source<T>::read(std::int64_t i, T* row) const {
    const T* from = values + slots[static_cast<std::size_t>(i)] * columns;
    for (const auto& [first, length] : runs) row = std::copy_n(from + first, length, row);
}

template <class T>
void Square<T>::resize(std::int64_t variables) {
    size = variables;
    width = round_up(size, sweep);
    if (size * width > room) {
        room = size * width;
        values = aligned<T>(room);
    }
    for (std::int64_t i = 0; i < size; ++i)
        std::fill_n(values.get() + i * width + size, width - size, T(0));
}

// Reads the rows of next_, of which the last `kept` are in square_ already.
template <class T>
void BlockSolver<T>::read_block(std::int64_t kept) {
    Square<T>& square = next_;
    const std::int64_t fresh = square.size - kept;
    const auto read = [&](std::int64_t i, int) {
        square.source.read(i, square.values.get() + i * square.width);
    };
    const auto keep = [&](std::int64_t task, int) {
        const std::int64_t from = task * line, to = std::min(from + line, kept);
        T* rows = square.values.get() + fresh * square.width;
        for (std::int64_t j = 0; j < fresh; ++j)  // a cache line of each new row at a time
            for (std::int64_t i = from; i < to; ++i)
                rows[i * square.width + j] = square.row(j)[fresh + i];
        for (std::int64_t i = from; i < to; ++i)
            std::copy_n(square_.row(i), kept, rows + i * square.width + fresh);
    };
    const std::int64_t lines = (kept + line - 1) / line;
    if (square.size * static_cast<std::int64_t>(square.source.runs.size()) <= 16 * part_size) {
        // Less work than to wake a thread.
        for (std::int64_t i = 0; i < fresh; ++i) read(i, 0);
        for (std::int64_t task = 0; task < lines; ++task) keep(task, 0);
    } else {
        parallel_for(fresh, read, nullptr);
        parallel_for(lines, keep, nullptr);
    }
}

template <class T>
SmoResult BlockSolver<T>::solve(const KernelRows<T>& K, const std::int64_t* slots,
                                const std::int64_t* columns, std::int64_t count, std::int64_t kept,
                                const BoxProblem& problem, double* b, double* g, double tol,
                                std::int64_t max_iterations, const Poll& poll, bool lazy) {
    check(K, slots, count);
    check_columns(K, columns, count);
    const bool same = kept == count && count == square_.size;
    if (kept < 0 || kept > count || kept > square_.size ||
        (kept > 0 && !same && !square_.absent.empty()))
        throw std::invalid_argument("smo: no more can be kept than there was.");
    if (count == 0) return {Ended::converged, 0, 0.0};
    if (same) {
        square_.source.values = K.values;
    } else {
        next_.resize(count);
        next_.source = {K.values, K.columns, {slots, slots + count}, runs_of(columns, count)};
        next_.absent.assign(static_cast<std::size_t>(lazy ? count : 0), 1);
        next_.diagonal.assign(static_cast<std::size_t>(next_.width), T(1));
        for (std::int64_t i = 0; i < count; ++i)
            next_.diagonal[static_cast<std::size_t>(i)] =
                K.values[slots[i] * K.columns + columns[i]];
        if (!lazy) read_block(kept);
        std::swap(square_, next_);
    }
    Smo<T> solver(square_, problem, b, g);
    // Many variables: parts of them pay off where a few steps for each do not do.
    const std::int64_t first =
        count <= 2 * part_size ? max_iterations : std::min(max_iterations, steps_each * count);
    SmoResult result = solver.run(tol, first, poll);
    if (result.ended == Ended::iterations && result.iterations < max_iterations) {
        const std::int64_t done = result.iterations;
        result = solver.run_by_parts(tol, max_iterations - done, poll);
        result.iterations += done;
    }
    solver.gradient(g);
    return result;
}

template <class T>
Polished BlockSolver<T>::polish(const KernelRows<T>& K, const BoxProblem& problem,
                                const double* linear, double* b, double* g, std::int64_t count,
                                double rounding, std::int64_t most, const Poll& poll) {
    if (count == 0) return {true, 0.0, 0.0};
    if (count != square_.size || K.columns != square_.source.columns)
        throw std::invalid_argument("smo: the problem must be the one solved last.");
    check(K, square_.source.slots.data(), count);
    square_.source.values = K.values;
    return Polish<T>(square_, problem, linear, b, g, factor_).run(rounding, most, poll);
}

template <class T>
void add_rows(const KernelRows<T>& K, const std::int64_t* slots, const double* weights,
              std::int64_t count, const std::int64_t* columns, std::int64_t size, double* g) {
    check(K, slots, count);
    check_columns(K, columns, size);
    const auto runs = runs_of(columns, size, 2048);
    std::vector<std::int64_t> starts;
    for (std::int64_t at = 0; const auto& run : runs) {
        starts.push_back(at);
        at += run.second;
    }
    const auto add = [&](std::int64_t task, int) {
        const auto [from, length] = runs[static_cast<std::size_t>(task)];
        std::vector<const T*> own;
        own.reserve(static_cast<std::size_t>(count));
        for (std::int64_t r = 0; r < count; ++r)
            own.push_back(K.values + slots[r] * K.columns + from);
        kernels<T>().add_rows(length, own.data(), weights, count,
                              g + starts[static_cast<std::size_t>(task)]);
    };
    const auto tasks = static_cast<std::int64_t>(runs.size());
    if (count * size <= few_entries)
        for (std::int64_t task = 0; task < tasks; ++task) add(task, 0);
    else
        parallel_for(tasks, add, nullptr);
}

template struct Source<float>;
template struct Source<double>;
template struct Square<float>;
template struct Square<double>;
template class BlockSolver<float>;
template class BlockSolver<double>;
template void add_rows(const KernelRows<float>&, const std::int64_t*, const double*, std::int64_t,
                       const std::int64_t*, std::int64_t, double*);
template void add_rows(const KernelRows<double>&, const std::int64_t*, const double*, std::int64_t,
                       const std::int64_t*, std::int64_t, double*);

}  // namespace mercer
