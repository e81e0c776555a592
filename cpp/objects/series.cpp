// Kernels of series.
//
// The sums of a series of a thousand moments are far beyond the range of a double, and so are the
// quotients of two sums in one row. So each column has a power of two of its own, and a row is one
// linear recurrence in numbers that are near 1. Where a row leaves that range at once, it is
// computed again with an exponent for every number.
#include "objects/series.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/panels.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

constexpr std::int64_t chunk = 256;  // columns whose local kernels are computed together
constexpr int lanes = 4;             // pairs at a time: a recurrence alone waits for itself
constexpr int registers = 3;         // of the program of local kernels
constexpr int arrays = 4;            // of a pair: old, fresh, power, ratio

// No memory holds as many, and the sizes of what is allocated for them are in range.
constexpr std::int64_t most_moments = std::int64_t{1} << 48;

// Beyond the outer bounds something may have been lost; within the inner ones nothing will be.
constexpr double outer_low = 0x1p-500, outer_high = 0x1p500;
constexpr double inner_low = 0x1p-300, inner_high = 0x1p300;

// 2^power for a whole power; 0 and infinity where only numbers beyond the normal ones would do.
double power_of_two(double power) {
    if (power < -1022) return 0;
    if (power > 1023) return std::numeric_limits<double>::infinity();
    return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

// part is 0 or a normal number above 0.
Scaled scaled(double part, double power) {
    if (part == 0) return {};
    const auto bits = std::bit_cast<std::uint64_t>(part);
    const auto own = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1022);
    return {std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3fe0000000000000), power + own};
}

Scaled sum(Scaled a, Scaled b) {
    if (a.part == 0) return b;
    if (b.part == 0) return a;
    if (a.power < b.power) std::swap(a, b);
    return scaled(a.part + b.part * power_of_two(b.power - a.power), a.power);
}

// e / (2 - e) with e = exp(-g); 0 where no series is long enough to make up for it.
Scaled local_kernel(double g) {
    constexpr double log_two = 0.693147180559945309417;
    if (g < 600) {
        const double e = std::exp(-g);
        return scaled(e / (2 - e), 0);
    }
    if (!(g < 1e15)) return {};
    const double power = -g / log_two - 1;  // where 2 - e is 2
    const auto whole = static_cast<double>(static_cast<std::int64_t>(power));
    return scaled(std::exp2(power - whole), whole);
}

// fresh_j = factor_j fresh_(j-1) + summand_j for j < count, n recurrences side by side.
struct Recurrence {
    double* fresh;
    const double* factors;
    const double* summands;
    double last, least, most;

    void step(std::int64_t j) {
        last = factors[j] * last + summands[j];
        fresh[j] = last;
        least = last < least ? last : least;
        most = last > most ? last : most;
    }
};

void run(Recurrence* given, int n, const std::int64_t* counts) {
    std::int64_t common = 0;
    if (n == lanes) {
        common = *std::min_element(counts, counts + n);
        Recurrence a = given[0], b = given[1], c = given[2], d = given[3];
        for (std::int64_t j = 0; j < common; ++j) {
            a.step(j);
            b.step(j);
            c.step(j);
            d.step(j);
        }
        given[0] = a, given[1] = b, given[2] = c, given[3] = d;
    }
    for (int lane = 0; lane < n; ++lane) {
        Recurrence one = given[lane];
        for (std::int64_t j = common; j < counts[lane]; ++j) one.step(j);
        given[lane] = one;
    }
}

}  // namespace

// Two series on their way: sums over the alignments up to (row, j) are fresh[j] 2^power[j].
struct GlobalAlignment::Course {
    SeriesView rows, columns;
    double* old;  // of the row before; old[-1] is 0
    double* fresh;
    double* power;
    double* ratio;  // 2^(power[j-1] - power[j])
    double last = 0, least = 0, most = 0;
    bool is_careful = true;  // the first row has nothing to start from

    void start_row() {
        last = 0;
        least = std::numeric_limits<double>::infinity();
        most = 0;
    }

    // Brings every number of the row near 1.
    void rescale() {
        is_careful = false;
        for (std::int64_t j = 0; j < columns.length; ++j) {
            const Scaled value = scaled(fresh[j], power[j]);
            fresh[j] = value.part;
            power[j] = value.power;
            ratio[j] = j > 0 ? power_of_two(power[j - 1] - power[j]) : 0;
        }
    }
};

struct GlobalAlignment::Buffers {
    double* registers;
    double* kernels;
    double* factors;
    double* summands;
};

GlobalAlignment::GlobalAlignment(std::int64_t width, double gamma)
    : width_(width),
      gamma_(gamma),
      local_{{{Op::exponential, 1, 0, 0, -gamma, 0},
              {Op::affine, 2, 1, 0, -1, 2},
              {Op::divide, 0, 1, 2, 0, 0}}} {}

void GlobalAlignment::add_squares(const Course& course, std::int64_t row, std::int64_t start,
                                  std::int64_t count, double* out) const {
    for (std::int64_t c = 0; c < width_; ++c) {
        const double own = course.rows.values[c * course.rows.length + row];
        const double* other = course.columns.values + c * course.columns.length + start;
        for (std::int64_t j = 0; j < count; ++j) out[j] += (own - other[j]) * (own - other[j]);
    }
}

void GlobalAlignment::prepare(const Course& course, std::int64_t row, std::int64_t start,
                              std::int64_t count, double* __restrict factors,
                              double* __restrict summands, const Buffers& buffers) const {
    std::fill_n(buffers.registers, count, 0.0);
    add_squares(course, row, start, count, buffers.registers);
    RowInputs<double> inputs{};
    inputs.count = count;
    inputs.diagonal = -1;
    kernels<double>().run(local_.data(), static_cast<int>(local_.size()), inputs, buffers.registers,
                          chunk, buffers.kernels);
    const double* __restrict kernel = buffers.kernels;
    const double* __restrict old = course.old + start;
    const double* __restrict ratio = course.ratio + start;
    for (std::int64_t j = 0; j < count; ++j) {
        factors[j] = kernel[j] * ratio[j];
        summands[j] = kernel[j] * (old[j - 1] * ratio[j] + old[j]);
    }
}

// The row with an exponent for every number, from the row before.
void GlobalAlignment::walk_carefully(Course& course, std::int64_t row) const {
    Scaled left, corner = scaled(row == 0 ? 1.0 : 0.0, 0);
    for (std::int64_t j = 0; j < course.columns.length; ++j) {
        double square = 0;
        add_squares(course, row, j, 1, &square);
        const Scaled above = row == 0 ? Scaled{} : scaled(course.old[j], course.power[j]);
        const Scaled paths = sum(sum(corner, above), left);
        const Scaled local = local_kernel(gamma_ * square);
        left = scaled(paths.part * local.part, paths.power + local.power);
        corner = above;
        course.fresh[j] = left.part;
        course.power[j] = left.power;
    }
    course.rescale();
}

void GlobalAlignment::settle(Course& course, std::int64_t row) const {
    // A NaN, of 0 times infinity, stays until the end of the row; least and most do not see it.
    const bool kept = course.least >= outer_low && course.most <= outer_high &&
                      course.last == course.last && !course.is_careful;
    if (!kept) {
        walk_carefully(course, row);
    } else if (course.least < inner_low || course.most > inner_high) {
        course.rescale();
    }
    std::swap(course.old, course.fresh);
}

// Some columns of a row of all courses that have them, side by side.
void GlobalAlignment::advance(Course* courses, int count, std::int64_t row, std::int64_t start,
                              const Buffers& buffers) const {
    Recurrence busy[lanes];
    Course* whose[lanes];
    std::int64_t counts[lanes];
    int n = 0;
    for (int c = 0; c < count; ++c) {
        Course& course = courses[c];
        const std::int64_t some = std::min(chunk, course.columns.length - start);
        if (some <= 0 || row >= course.rows.length || course.is_careful) continue;
        double* factors = buffers.factors + n * chunk;
        double* summands = buffers.summands + n * chunk;
        prepare(course, row, start, some, factors, summands, buffers);
        busy[n] = {course.fresh + start, factors, summands, course.last, course.least, course.most};
        counts[n] = some;
        whose[n++] = &course;
    }
    run(busy, n, counts);
    for (int c = 0; c < n; ++c) {
        whose[c]->last = busy[c].last;
        whose[c]->least = busy[c].least;
        whose[c]->most = busy[c].most;
    }
}

void GlobalAlignment::align_some(Course* courses, int count, Scaled* const* out,
                                 const Buffers& buffers) const {
    std::int64_t rows = 0, columns = 0;
    for (int c = 0; c < count; ++c) {
        rows = std::max(rows, courses[c].rows.length);
        columns = std::max(columns, courses[c].columns.length);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        for (int c = 0; c < count; ++c) courses[c].start_row();
        for (std::int64_t start = 0; start < columns; start += chunk)
            advance(courses, count, row, start, buffers);
        for (int c = 0; c < count; ++c)
            if (row < courses[c].rows.length) settle(courses[c], row);
    }
    for (int c = 0; c < count; ++c) {
        const std::int64_t end = courses[c].columns.length - 1;
        *out[c] = scaled(courses[c].old[end], courses[c].power[end]);
    }
}

void GlobalAlignment::align(const SeriesView& x, const SeriesView* y, std::int64_t count,
                            Scaled* out, Scratch& scratch) const {
    std::int64_t longest = 0;
    for (std::int64_t c = 0; c < count; ++c)
        longest = std::max(longest, std::min(x.length, y[c].length));
    const std::int64_t stride = longest + 1;  // old[-1] has a place
    scratch.numbers.resize(static_cast<std::size_t>(chunk * (registers + 1 + 2 * lanes)));
    scratch.more_numbers.resize(static_cast<std::size_t>(stride * arrays * lanes));
    double* free = scratch.numbers.data();
    const Buffers buffers{free, free + registers * chunk, free + (registers + 1) * chunk,
                          free + (registers + 1 + lanes) * chunk};
    Course courses[lanes];
    Scaled* wanted[lanes];
    int n = 0;
    for (std::int64_t c = 0; c < count; ++c) {
        if (x.length == 0 || y[c].length == 0) {
            // Of two series without moments there is one alignment, the empty one.
            out[c] = scaled(x.length == y[c].length ? 1.0 : 0.0, 0);
        } else {
            double* own = scratch.more_numbers.data() + n * arrays * stride;
            own[0] = own[stride] = 0;
            const std::int64_t size = x.length * width_;
            const bool is_first = x.length != y[c].length ? x.length > y[c].length
                                                          : std::lexicographical_compare(
                                                                x.values, x.values + size,
                                                                y[c].values, y[c].values + size);
            courses[n] = {is_first ? x : y[c], is_first ? y[c] : x, own + 1,
                          own + stride + 1,    own + 2 * stride,    own + 3 * stride};
            wanted[n++] = &out[c];
        }
        if (n == lanes || (c + 1 == count && n > 0)) {
            align_some(courses, n, wanted, buffers);
            n = 0;
        }
    }
}

SeriesSet::SeriesSet(std::vector<double> values, std::vector<std::int64_t> ends, std::int64_t width,
                     double gamma)
    : values_(std::move(values)), ends_(std::move(ends)), width_(width), gamma_(gamma) {
    const auto require = [](bool holds, const char* sentence) {
        if (!holds) throw std::invalid_argument(sentence);
    };
    require(gamma_ > 0 && std::isfinite(gamma_), "SeriesSet: gamma must be above 0.");
    require(width_ >= 0, "SeriesSet: width must not be negative.");
    require(!ends_.empty() && ends_.front() == 0 && std::is_sorted(ends_.begin(), ends_.end()),
            "SeriesSet: ends must start at 0 and not fall.");
    // Without coordinates moments take no memory: any number of them may be claimed.
    require(ends_.back() <= most_moments, "SeriesSet: there must be at most 2^48 moments.");
    const auto size = static_cast<std::int64_t>(values_.size());
    require(width_ == 0 ? size == 0 : size % width_ == 0 && ends_.back() == size / width_,
            "SeriesSet: there must be `width` values per moment.");
}

std::int64_t SeriesSet::longest() const {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < size(); ++i) found = std::max(found, (*this)[i].length);
    return found;
}

bool SeriesSet::measure(const Poll& poll) {
    const GlobalAlignment kernel(width_, gamma_);
    std::vector<Scaled> found(static_cast<std::size_t>(size()));
    std::vector<Scratch> scratch(static_cast<std::size_t>(num_threads()));
    const bool done = parallel_for(
        size(),
        [&](std::int64_t i, int worker) {
            const SeriesView x = (*this)[i];
            kernel.align(x, &x, 1, &found[static_cast<std::size_t>(i)],
                         scratch[static_cast<std::size_t>(worker)]);
        },
        poll);
    if (done) own_ = std::move(found);
    return done;
}

AlignmentJob::AlignmentJob(std::shared_ptr<const SeriesSet> left,
                           std::shared_ptr<const SeriesSet> right, bool normalize)
    : PairJob(left->size(), right->size()),
      left_(std::move(left)),
      right_(std::move(right)),
      normalize_(normalize),
      kernel_(left_->width(), left_->gamma()) {
    const auto is_measured = [](const SeriesSet& set) {
        return static_cast<std::int64_t>(set.own().size()) == set.size();
    };
    const bool is_empty = left_->size() == 0 || right_->size() == 0;
    if ((!is_empty && left_->width() != right_->width()) || left_->gamma() != right_->gamma())
        throw std::invalid_argument("AlignmentJob: both sets must have one width and one gamma.");
    if (!is_measured(*left_) || !is_measured(*right_))
        throw std::invalid_argument("AlignmentJob: both sets must be measured.");
}

double AlignmentJob::work() const {
    // A place takes about four steps, and one for each coordinate.
    return static_cast<double>(4 + left_->width()) * static_cast<double>(left_->longest()) *
           static_cast<double>(right_->longest());
}

double AlignmentJob::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    double found = 0;
    row(i, &j, 1, &found, scratch);
    return found;
}

void AlignmentJob::row(std::int64_t i, const std::int64_t* columns, std::int64_t count, double* out,
                       Scratch& scratch) const {
    SeriesView others[at_once];
    Scaled found[at_once];
    for (std::int64_t c = 0; c < count; ++c) others[c] = (*right_)[columns[c]];
    kernel_.align((*left_)[i], others, count, found, scratch);
    const Scaled x = left_->own()[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < count; ++c) {
        const Scaled y = right_->own()[static_cast<std::size_t>(columns[c])];
        double part = found[c].part, power = found[c].power;
        if (normalize_) {
            const double half = std::floor((x.power + y.power) / 2);
            const double odd = x.power + y.power - 2 * half;
            part /= std::sqrt(x.part * y.part * (1 + odd));
            power -= half;
        }
        out[c] = std::ldexp(part, static_cast<int>(std::clamp(power, -2000.0, 2000.0)));
    }
}

}  // namespace mercer
