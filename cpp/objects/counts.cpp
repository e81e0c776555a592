#include "objects/counts.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <vector>

#include "system/cpu.hpp"
#include "system/hash.hpp"

namespace mercer {

namespace {

constexpr std::int64_t objects_at_once = 64;
constexpr std::int64_t tokens_at_once = 1 << 14;

struct Counted {
    std::uint64_t id;
    double value;
};

// Sorts and merges the tokens of one object; returns how many different ones there are.
std::int64_t merge(std::uint64_t* ids, double* values, std::int64_t count,
                   std::vector<Counted>& room) {
    if (count == 0) return 0;
    room.resize(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k)
        room[static_cast<std::size_t>(k)] = {ids[k], values[k]};
    // Stable, so that what is summed up does not depend on the sort: equal objects, equal sums.
    std::stable_sort(room.begin(), room.end(),
                     [](const Counted& a, const Counted& b) { return a.id < b.id; });
    std::int64_t last = 0;
    ids[0] = room[0].id;
    values[0] = room[0].value;
    for (std::size_t k = 1; k < room.size(); ++k) {
        if (room[k].id == ids[last]) {
            values[last] += room[k].value;
        } else {
            ++last;
            ids[last] = room[k].id;
            values[last] = room[k].value;
        }
    }
    return last + 1;
}

}  // namespace

bool merge_tokens(const Tokens& tokens, std::uint64_t* ids, double* values, std::int64_t* kept,
                  const Poll& poll) {
    for (std::int64_t i = 0; i < tokens.objects; ++i)
        if (tokens.ends[i] < 0 || tokens.ends[i] > tokens.ends[i + 1] ||
            tokens.ends[i + 1] > tokens.total)
            throw std::invalid_argument("merge_tokens: ends must ascend.");
    std::vector<std::vector<Counted>> rooms(static_cast<std::size_t>(num_threads()));
    return parallel_for((tokens.objects + objects_at_once - 1) / objects_at_once,
                        [&](std::int64_t task, int worker) {
                            const std::int64_t last =
                                std::min((task + 1) * objects_at_once, tokens.objects);
                            for (std::int64_t i = task * objects_at_once; i < last; ++i)
                                kept[i] = merge(ids + tokens.ends[i], values + tokens.ends[i],
                                                tokens.ends[i + 1] - tokens.ends[i],
                                                rooms[static_cast<std::size_t>(worker)]);
                        },
                        poll);
}

void pack_tokens(const Tokens& tokens, const std::int64_t* kept, const std::uint64_t* ids,
                 const double* values, std::uint64_t* packed_ids, double* packed_values) {
    for (std::int64_t i = 0; i < tokens.objects; ++i) {
        packed_ids = std::copy_n(ids + tokens.ends[i], kept[i], packed_ids);
        packed_values = std::copy_n(values + tokens.ends[i], kept[i], packed_values);
    }
}

bool look_up(const std::uint64_t* vocabulary, std::int64_t size, const std::uint64_t* ids,
             std::int64_t count, std::int32_t* columns, const Poll& poll) {
    if (size > std::numeric_limits<std::int32_t>::max() / 4)
        throw std::length_error("look_up: there are too many different tokens.");
    // Open addressing, a quarter to a half full.
    const std::uint64_t mask = std::bit_ceil(static_cast<std::uint64_t>(size) * 2 + 2) - 1;
    std::vector<std::int32_t> table(mask + 1, -1);
    for (std::int64_t c = 0; c < size; ++c) {
        std::uint64_t place = mix(vocabulary[c]) & mask;
        while (table[place] >= 0) place = (place + 1) & mask;
        table[place] = static_cast<std::int32_t>(c);
    }
    return parallel_for((count + tokens_at_once - 1) / tokens_at_once,
                        [&](std::int64_t task, int) {
                            const std::int64_t last = std::min((task + 1) * tokens_at_once, count);
                            for (std::int64_t k = task * tokens_at_once; k < last; ++k) {
                                std::uint64_t place = mix(ids[k]) & mask;
                                while (table[place] >= 0 && vocabulary[table[place]] != ids[k])
                                    place = (place + 1) & mask;
                                columns[k] = table[place];
                            }
                        },
                        poll);
}

}  // namespace mercer
