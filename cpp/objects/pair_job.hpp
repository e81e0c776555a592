// Kernels of objects that have no explicit features: a number for each pair, by a program.
//
// A kernel derives from PairJob and says what k is; the threads, the mirrored half and stopping
// are here.
#pragma once

#include <cstdint>
#include <vector>

#include "system/pool.hpp"

namespace mercer {

// Memory that a program may grow and use as it likes while it works on one row.
struct Scratch {
    std::vector<double> numbers;
    std::vector<double> more_numbers;
    std::vector<std::int64_t> places;
    int worker = 0;  // whose it is

    // For a program of which one pair may take long: it took so many more steps, of a nanosecond
    // or so. True: the job is to stop, and what it returns does not matter any more.
    bool stopped(std::int64_t steps) {
        steps_ += steps;
        if (steps_ >= steps_between_looks && !stopped_) {
            steps_ = 0;
            stopped_ = stop_asked(worker);
        }
        return stopped_;
    }

    static constexpr std::int64_t steps_between_looks = 4'000'000;

private:
    std::int64_t steps_ = 0;
    bool stopped_ = false;
};

class PairJob {
public:
    PairJob(std::int64_t lefts, std::int64_t rights) : lefts_(lefts), rights_(rights) {}
    virtual ~PairJob() = default;

    std::int64_t lefts() const { return lefts_; }
    std::int64_t rights() const { return rights_; }

    // k of the left object i and the right object j; both are within bounds.
    virtual double value(std::int64_t i, std::int64_t j, Scratch& scratch) const = 0;

    // out[c] = k(i, columns[c]) for c < count. A program that does better with several objects
    // at a time does so here; count is `at_once` at most.
    virtual void row(std::int64_t i, const std::int64_t* columns, std::int64_t count, double* out,
                     Scratch& scratch) const {
        for (std::int64_t c = 0; c < count; ++c) out[c] = value(i, columns[c], scratch);
    }

    static constexpr std::int64_t at_once = 64;

    // About how many steps a large pair takes: fewer are done between two looks at the clock then.
    virtual double work() const { return 0.0; }

    // out[r][c] = k(rows[r], columns[c]) for first <= r < last. same: rows and columns are the same
    // objects of one collection; half of the matrix is computed, and mirrored. False if poll asked
    // to stop.
    bool store(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
               bool same, std::int64_t first, std::int64_t last, double* out,
               const Poll& poll) const;

    // out[p] = k(i[p], j[p]).
    bool matched(const std::vector<std::int64_t>& i, const std::vector<std::int64_t>& j,
                 double* out, const Poll& poll) const;

private:
    std::int64_t together() const;

    std::int64_t lefts_, rights_;
};

}  // namespace mercer
