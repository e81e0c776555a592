// Tables of counted tokens: equal ones of an object put together, and their columns looked up.
#pragma once

#include <cstdint>

#include "system/pool.hpp"

namespace mercer {

// Tokens of objects one after another: those of object i from ends[i] to ends[i + 1].
struct Tokens {
    const std::int64_t* ends;
    std::int64_t objects;
    std::int64_t total;
};

// Sorts the ids of each object and puts equal ones together, in place: the first kept[i] places of
// object i hold its different ids, ascending, and in values the sums of what they counted. False if
// poll asked to stop.
bool merge_tokens(const Tokens& tokens, std::uint64_t* ids, double* values, std::int64_t* kept,
                  const Poll& poll);

// Copies the first kept[i] places of every object to one place after another.
void pack_tokens(const Tokens& tokens, const std::int64_t* kept, const std::uint64_t* ids,
                 const double* values, std::uint64_t* packed_ids, double* packed_values);

// columns[k] = the place of ids[k] in the vocabulary, whose entries are different, or -1.
bool look_up(const std::uint64_t* vocabulary, std::int64_t size, const std::uint64_t* ids,
             std::int64_t count, std::int32_t* columns, const Poll& poll);

}  // namespace mercer
