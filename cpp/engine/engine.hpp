// The tile engine: kernel matrices from panels of points, statistics and programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/matvec.hpp"
#include "engine/panels.hpp"
#include "engine/tile.hpp"
#include "system/pool.hpp"

namespace mercer {

// One statistic of the points.
template <class T>
struct Term {
    Statistic statistic;
    std::shared_ptr<const Panels<T>> left, right;
    std::vector<T> weights;  // for `unequal`
    // For squared distances: expand them where rounding, times this factor, stays below the
    // tolerance; 0 never expands.
    double factor;
    double exponent = 1;  // for `power` and `decay`, above 0
};

// A block computed elsewhere, rows `stride` numbers apart.
template <class T>
struct External {
    const T* values;
    std::int64_t stride;
};

template <class T>
class Job {
public:
    // left_vectors, right_vectors: one pointer to `rows` (`columns`) numbers each.
    // Throws std::invalid_argument on a program that does not fit.
    Job(std::int64_t rows, std::int64_t columns, bool same_points, std::vector<Term<T>> terms,
        std::vector<std::vector<Instruction>> programs, std::vector<std::vector<T>> left_vectors,
        std::vector<std::vector<T>> right_vectors, std::vector<External<T>> externals);

    // The matrix of each program, from the same statistics, row by row; of the same points, half is
    // computed and mirrored.
    bool store(const std::vector<T*>& outs, const Poll& poll) const;

    // out = K v with the first program; v: columns x count, out: rows x count, in double precision,
    // row by row.
    bool multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const;

    // The `count` columns of each row with the smallest shift - 2 K, or with the largest K where
    // shift is null: best first, of equal ones the smaller column first. Both outputs: rows x
    // count; keys holds what was compared.
    bool top(std::int64_t count, const double* shift, std::int64_t* columns, double* keys,
             const Poll& poll) const;

    // Whole rows of K with the first program: count x columns, row by row. What a solver asks for
    // that works on a few rows at a time; 64 and more at once cost least. Throws
    // std::invalid_argument on a row that does not exist, and where a part was computed elsewhere.
    bool rows(const std::int64_t* chosen, std::int64_t count, T* out, const Poll& poll) const;

    // The same matrix for other rows: the columns and the first program stay. left: the new rows
    // packed for each statistic. Throws std::invalid_argument where a part was computed elsewhere.
    Job with_rows(std::int64_t rows, const std::vector<std::shared_ptr<const Panels<T>>>& left,
                  std::vector<std::vector<T>> left_vectors) const;

    // Whether all of it is done before another thread would have woken up.
    bool small() const;

    struct Scratch {
        std::vector<Aligned<T>> tiles;  // one for each statistic
        Aligned<T> registers;
        Aligned<T> values;  // the kernel values of the tile
        std::vector<bool> finished;
    };

    // Whether every kernel value computed so far was a finite number. Those of `multiply` are not
    // looked at: its result tells.
    bool finite() const { return finite_->load(std::memory_order_relaxed); }

    std::int64_t size() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    const std::vector<Term<T>>& terms() const { return terms_; }
    std::int64_t tile_rows() const { return tile_rows_; }
    std::int64_t tile_columns() const { return tile_columns_; }
    bool same_points() const { return same_points_; }
    std::vector<Block> block_list() const;
    std::vector<Scratch> scratches(std::int64_t workers) const;

    // The values of a block, rows tile_columns() apart; they stand until the scratch is used again.
    // upper: what lies below the diagonal of the whole matrix may be left undefined. look: whether
    // to look for values that are not finite.
    const T* evaluate(const Block& block, bool upper, Scratch& scratch, bool look = true) const;

    // The same into rows `stride` apart, with room for whole vectors, of any block of rows that lie
    // in one panel and begin with a group of them. They are not looked at.
    void evaluate_rows(const Block& block, Scratch& scratch, T* into, std::int64_t stride) const {
        statistics(block, false, scratch);
        values(programs_.front(), block, scratch, into, stride);
    }

private:
    void statistics(const Block& block, bool upper, Scratch& scratch) const;
    // into: rows `stride` apart, with room for whole vectors.
    void values(const std::vector<Instruction>& program, const Block& block, Scratch& scratch,
                T* into, std::int64_t stride) const;
    void look(const Block& block, bool upper, const T* values, std::int64_t stride) const;
    void store_block(const Block& block, const T* values, T* out) const;
    void store_at_diagonal(const Block& block, const T* values, T* out) const;
    void check(const Instruction& step) const;
    bool expands(const Term<T>& term, const Block& block) const;

    std::int64_t rows_, columns_;
    bool same_points_;
    std::vector<std::int64_t>
        own_column_;  // of each row, where rows were chosen of the same points
    std::vector<Term<T>> terms_;
    std::vector<std::vector<Instruction>> programs_;
    std::vector<std::vector<T>> left_, right_;
    std::vector<External<T>> externals_;
    std::int64_t tile_rows_, tile_columns_;
    std::shared_ptr<std::atomic<bool>> finite_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace mercer
