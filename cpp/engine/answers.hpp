// Answers for a few new rows, of which everything but the rows is known beforehand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hpp"

namespace mercer {

template <class T>
class Answers {
public:
    // How one statistic sees the new rows: minus the centre, times the scale; empty: as they are.
    struct Frame {
        std::vector<double> centre, scale;
    };

    // pattern: a job whose columns and program stay. frames: one for each of its statistics.
    // Throws std::invalid_argument where they do not fit.
    Answers(Job<T> pattern, std::vector<Frame> frames);

    // The job of new rows; nothing where a row has NaN, infinity or numbers too large to square.
    // left_vectors: of the new rows, as the program wants them.
    template <class Number>
    std::optional<Job<T>> job(const DenseRows<Number>& rows,
                              std::vector<std::vector<T>> left_vectors) const;

    std::int64_t columns() const { return pattern_.columns(); }

private:
    Job<T> pattern_;
    std::vector<Frame> frames_;
};

}  // namespace mercer
