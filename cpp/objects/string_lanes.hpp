// Common subsequences of one sequence with several others at a time, compiled once for each
// instruction set. See strings.hpp; these files use no standard library, as in tile.hpp.
#pragma once

#include <cstdint>

namespace mercer {

// Lanes for `groups` vectors of sequences. left: some rows, one token each. right: their tokens,
// position after position, each with a token of every sequence, where a shorter one has tokens that
// no left sequence has. sums[p - 1] of every lane: decay^gaps summed over all pairs of equal
// subsequences of length p, gaps being the tokens that both leave out between their first and last;
// of p = length only, unless `every`. memory: (length - 1) (columns + 1) numbers a lane. Both are 0
// before the first rows, and left alone until the next. length is at least 1.
using SubsequenceSums = void (*)(const std::int64_t* left, std::int64_t rows,
                                 const std::int64_t* right, std::int64_t columns, int length,
                                 double decay, bool every, double* memory, double* sums);

struct StringLanes {
    int lanes;  // in a group
    SubsequenceSums one_group, two_groups;
};

namespace baseline {
const StringLanes& string_lanes();
}

#ifdef MERCER_X86
namespace avx2 {
const StringLanes& string_lanes();
}

namespace avx512 {
const StringLanes& string_lanes();
}
#endif

}  // namespace mercer
