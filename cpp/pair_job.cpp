#include "pair_job.hpp"

#include <algorithm>
#include <stdexcept>

#include "machine.hpp"

namespace mercer {

namespace {

void check(const std::vector<std::int64_t>& places, std::int64_t count) {
    for (const std::int64_t place : places)
        if (place < 0 || place >= count)
            throw std::out_of_range("pair job: there is no such object.");
}

}  // namespace

bool PairJob::store(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
                    bool same, std::int64_t first, std::int64_t last, double* out,
                    const Poll& poll) const {
    check(rows, lefts_);
    check(columns, rights_);
    const auto width = static_cast<std::int64_t>(columns.size());
    const std::int64_t parts = (width + at_once - 1) / at_once;
    std::vector<Scratch> scratch(static_cast<std::size_t>(num_threads()));
    return parallel_for(
        (last - first) * parts,
        [&](std::int64_t task, int worker) {
            const std::int64_t r = first + task / parts;
            const std::int64_t stop = std::min((task % parts + 1) * at_once, width);
            const std::int64_t start = std::max(task % parts * at_once, same ? r : 0);
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
    std::vector<Scratch> scratch(static_cast<std::size_t>(num_threads()));
    return parallel_for(
        static_cast<std::int64_t>(i.size()),
        [&](std::int64_t p, int worker) {
            const auto at = static_cast<std::size_t>(p);
            row(i[at], &j[at], 1, out + p, scratch[static_cast<std::size_t>(worker)]);
        },
        poll);
}

}  // namespace mercer
