#include "objects/pair_job.hpp"

#include <algorithm>
#include <stdexcept>

#include "system/cpu.hpp"

namespace mercer {

namespace {

void check(const std::vector<std::int64_t>& places, std::int64_t count) {
    for (const std::int64_t place : places)
        if (place < 0 || place >= count)
            throw std::out_of_range("pair job: there is no such object.");
}

std::vector<Scratch> one_each() {
    std::vector<Scratch> made(static_cast<std::size_t>(num_threads()));
    for (std::size_t worker = 0; worker < made.size(); ++worker)
        made[worker].worker = static_cast<int>(worker);
    return made;
}

constexpr double steps_a_task = 5e7;  // some hundredths of a second
constexpr std::int64_t fewest = 8;    // objects that some programs take together

}  // namespace

std::int64_t PairJob::together() const {
    const double wanted = steps_a_task / std::max(work(), 1.0);
    return wanted >= static_cast<double>(at_once)
               ? at_once
               : std::max(fewest, static_cast<std::int64_t>(wanted));
}

bool PairJob::store(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
                    bool same, std::int64_t first, std::int64_t last, double* out,
                    const Poll& poll) const {
    check(rows, lefts_);
    check(columns, rights_);
    const auto width = static_cast<std::int64_t>(columns.size());
    const std::int64_t at_a_time = together();
    const std::int64_t parts = (width + at_a_time - 1) / at_a_time;
    std::vector<Scratch> scratch = one_each();
    return parallel_for(
        (last - first) * parts,
        [&](std::int64_t task, int worker) {
            const std::int64_t r = first + task / parts;
            const std::int64_t stop = std::min((task % parts + 1) * at_a_time, width);
            const std::int64_t start = std::max(task % parts * at_a_time, same ? r : 0);
            if (start >= stop) return;
            row(rows[static_cast<std::size_t>(r)], columns.data() + start, stop - start,
                out + r * width + start, scratch[static_cast<std::size_t>(worker)]);
            if (same)
                for (std::int64_t c = start; c < stop; ++c) out[c * width + r] = out[r * width + c];
        },
        poll);
}

bool PairJob::matched(const std::vector<std::int64_t>& i, const std::vector<std::int64_t>& j,
                      double* out, const Poll& poll) const {
    check(i, lefts_);
    check(j, rights_);
    std::vector<Scratch> scratch = one_each();
    return parallel_for(
        static_cast<std::int64_t>(i.size()),
        [&](std::int64_t p, int worker) {
            const auto at = static_cast<std::size_t>(p);
            row(i[at], &j[at], 1, out + p, scratch[static_cast<std::size_t>(worker)]);
        },
        poll);
}

}  // namespace mercer
