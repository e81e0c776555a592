// What this machine offers: its instruction set and its threads.
//
// Both are read once, on first use, and a bad environment variable throws std::invalid_argument
// with a sentence for the user.
#pragma once

#include <string_view>

namespace mercer {

// Instruction sets the core is compiled for, narrowest first.
enum class Isa { baseline, avx2, avx512 };

std::string_view name(Isa isa);

// The widest one this machine runs, or the one that MERCER_ISA names.
Isa isa();

inline constexpr int max_threads = 1024;

// As set by set_num_threads; else MERCER_NUM_THREADS; else OMP_NUM_THREADS; else one thread for
// each processor this process may run on.
int num_threads();

// Throws std::invalid_argument unless 1 <= count <= max_threads.
void set_num_threads(int count);

}  // namespace mercer
