#include "engine/sparse.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "system/cpu.hpp"

namespace mercer {

namespace {

constexpr std::int64_t block_rows = 4096;  // right rows whose sums stay in the first cache
constexpr std::int64_t chunk_rows = 16;    // left rows that are mirrored together

struct Entry {
    std::int32_t row;  // within its block
    double value;
};

// The rows of a block by columns: which of them have a column, and what they have there.
struct Block {
    std::int64_t first, rows;
    std::vector<std::int64_t> starts;
    std::vector<Entry> entries;
};

void check(const CountRows& given, std::int64_t width) {
    for (std::int64_t r = 0; r < given.rows; ++r)
        if (given.ends[r] < 0 || given.ends[r] > given.ends[r + 1])
            throw std::invalid_argument("add_meetings: ends must ascend.");
    for (std::int64_t k = given.ends[0]; k < given.ends[given.rows]; ++k)
        if (given.columns[k] < 0 || given.columns[k] >= width)
            throw std::out_of_range("add_meetings: there is no such column.");
}

Block by_columns(const CountRows& rows, std::int64_t first, std::int64_t width) {
    Block made{first, std::min(block_rows, rows.rows - first), {}, {}};
    const std::int64_t begin = rows.ends[first], end = rows.ends[first + made.rows];
    made.starts.assign(static_cast<std::size_t>(width) + 1, 0);
    for (std::int64_t k = begin; k < end; ++k)
        ++made.starts[static_cast<std::size_t>(rows.columns[k]) + 1];
    for (std::size_t c = 1; c < made.starts.size(); ++c) made.starts[c] += made.starts[c - 1];
    made.entries.resize(static_cast<std::size_t>(end - begin));
    std::vector<std::int64_t> next(made.starts.begin(), made.starts.end() - 1);
    for (std::int64_t r = 0; r < made.rows; ++r)
        for (std::int64_t k = rows.ends[first + r]; k < rows.ends[first + r + 1]; ++k) {
            const auto place = next[static_cast<std::size_t>(rows.columns[k])]++;
            made.entries[static_cast<std::size_t>(place)] = {static_cast<std::int32_t>(r),
                                                             rows.values[k]};
        }
    return made;
}

template <Meeting meeting>
void add_row(const CountRows& left, std::int64_t i, const Block& block, double* sums) {
    for (std::int64_t k = left.ends[i]; k < left.ends[i + 1]; ++k) {
        const double x = left.values[k];
        const auto column = static_cast<std::size_t>(left.columns[k]);
        const Entry* const end = block.entries.data() + block.starts[column + 1];
        for (const Entry* at = block.entries.data() + block.starts[column]; at < end; ++at)
            sums[at->row] += meeting == Meeting::product ? x * at->value : std::min(x, at->value);
    }
}

}  // namespace

bool add_meetings(const CountRows& left, const CountRows& right, std::int64_t width,
                  Meeting meeting, bool same, double* out, const Poll& poll) {
    check(left, width);
    check(right, width);
    const std::int64_t columns = right.rows;
    const std::int64_t chunks = (left.rows + chunk_rows - 1) / chunk_rows;
    for (std::int64_t first = 0; first < columns; first += block_rows) {
        const Block block = by_columns(right, first, width);
        const std::int64_t last = first + block.rows;
        const auto run = [&](std::int64_t task, int) {
            const std::int64_t begin = task * chunk_rows;
            const std::int64_t end = std::min(begin + chunk_rows, left.rows);
            if (same && begin >= last) return;
            std::vector<double> sums(static_cast<std::size_t>(block.rows));
            for (std::int64_t i = begin; i < end; ++i) {
                std::fill(sums.begin(), sums.end(), 0.0);
                if (meeting == Meeting::product)
                    add_row<Meeting::product>(left, i, block, sums.data());
                else
                    add_row<Meeting::minimum>(left, i, block, sums.data());
                double* row = out + i * columns + first;
                for (std::int64_t j = same ? std::max<std::int64_t>(i - first, 0) : 0;
                     j < block.rows; ++j)
                    row[j] += sums[static_cast<std::size_t>(j)];
            }
            if (!same) return;
            for (std::int64_t j = std::max(begin + 1, first); j < last; ++j)
                for (std::int64_t i = begin; i < std::min(end, j); ++i)
                    out[j * columns + i] = out[i * columns + j];
        };
        if (!parallel_for(chunks, run, poll)) return false;
    }
    return true;
}

}  // namespace mercer
