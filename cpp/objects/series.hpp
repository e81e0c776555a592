// Kernels of series: all ways to align two of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/tile.hpp"
#include "objects/pair_job.hpp"

namespace mercer {

// part 2^power, for numbers beyond the range of a double; power is whole, and 0 where part is.
struct Scaled {
    double part = 0;
    double power = 0;
};

// One series: coordinate c at moment t is values[c * length + t].
struct SeriesView {
    const double* values;
    std::int64_t length;
};

// The sum over all alignments of two series of the product of local kernels e / (2 - e),
// e = exp(-gamma |x_i - y_j|^2). An alignment is a path of places (i, j) from both first moments to
// both last ones, by steps (1, 0), (0, 1) and (1, 1).
class GlobalAlignment {
public:
    GlobalAlignment(std::int64_t width, double gamma);

    // out[c] = k(x, y[c]) for c < count. The same to the last bit when x and y change places.
    void align(const SeriesView& x, const SeriesView* y, std::int64_t count, Scaled* out,
               Scratch& scratch) const;

private:
    struct Course;
    struct Buffers;

    void align_some(Course* courses, int count, Scaled* const* out, const Buffers& buffers) const;
    void advance(Course* courses, int count, std::int64_t row, std::int64_t start,
                 const Buffers& buffers) const;
    void prepare(const Course& course, std::int64_t row, std::int64_t start, std::int64_t count,
                 double* factors, double* summands, const Buffers& buffers) const;
    void settle(Course& course, std::int64_t row) const;
    void walk_carefully(Course& course, std::int64_t row) const;
    void add_squares(const Course& course, std::int64_t row, std::int64_t start, std::int64_t count,
                     double* out) const;

    std::int64_t width_;
    double gamma_;
    std::array<Instruction, 3> local_;  // squared distances to local kernels
};

// Series of one width, and the alignments of each with itself once they are measured.
class SeriesSet {
public:
    // ends: in moments, from 0; values: series after series. Throws std::invalid_argument unless
    // they fit.
    SeriesSet(std::vector<double> values, std::vector<std::int64_t> ends, std::int64_t width,
              double gamma);

    std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()) - 1; }
    std::int64_t width() const { return width_; }
    double gamma() const { return gamma_; }
    const std::vector<Scaled>& own() const { return own_; }

    SeriesView operator[](std::int64_t i) const {
        const auto at = static_cast<std::size_t>(i);
        return {values_.data() + ends_[at] * width_, ends_[at + 1] - ends_[at]};
    }

    // Moments of the longest.
    std::int64_t longest() const;

    // Computes k(x, x) of every series. False if poll asked to stop.
    bool measure(const Poll& poll);

private:
    std::vector<double> values_;
    std::vector<std::int64_t> ends_;
    std::int64_t width_;
    double gamma_;
    std::vector<Scaled> own_;
};

// k(x, y), or k(x, y) / sqrt(k(x, x) k(y, y)) where `normalize`.
class AlignmentJob : public PairJob {
public:
    // Throws std::invalid_argument if widths or gammas differ or a set is not measured.
    AlignmentJob(std::shared_ptr<const SeriesSet> left, std::shared_ptr<const SeriesSet> right,
                 bool normalize);

    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;
    void row(std::int64_t i, const std::int64_t* columns, std::int64_t count, double* out,
             Scratch& scratch) const override;
    double work() const override;

private:
    std::shared_ptr<const SeriesSet> left_, right_;
    bool normalize_;
    GlobalAlignment kernel_;
};

}  // namespace mercer
