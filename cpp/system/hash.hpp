// One number from another that looks random; different ones stay different. As `mix` in
// kernels/objects/tokens.py.
#pragma once

#include <cstdint>

namespace mercer {

inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace mercer
