#include "system/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace mercer {
namespace {

// An empty variable counts as unset, as it does for OpenMP.
std::optional<std::string> environment(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

// From the narrowest to the widest.
constexpr Isa all[] = {Isa::baseline, Isa::avx2, Isa::avx512};

bool runs(Isa isa) {
    if (isa == Isa::baseline) return true;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return false;
    // The first machines with wide vectors slow down where they are used; those that also have
    // these byte instructions do not.
    return isa == Isa::avx2 ||
           (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2"));
#else
    return false;
#endif
}

Isa choose_isa() {
    const auto forced = environment("MERCER_ISA");
    Isa widest = Isa::baseline;
    std::string allowed;
    for (const Isa isa : all) {
        if (!runs(isa)) continue;
        if (forced && *forced == name(isa)) return isa;
        widest = isa;
        allowed.append(allowed.empty() ? "" : " or ").append(name(isa));
    }
    if (!forced) return widest;
    throw std::invalid_argument("mercer: MERCER_ISA must be " + allowed +
                                " on this machine; got '" + *forced +
                                "'. Unset it to let mercer choose.");
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool in_range(int count) {
    return 1 <= count && count <= max_threads;
}

// OMP_NUM_THREADS may be a list, one number for each level of nesting; we are the outermost.
std::optional<int> threads_from(const char* variable, bool may_be_list) {
    const auto value = environment(variable);
    if (!value) return std::nullopt;

    std::string_view text = *value;
    if (may_be_list) text = text.substr(0, text.find(','));
    text = trim(text);

    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || !in_range(count)) {
        throw std::invalid_argument(std::string("mercer: ") + variable +
                                    " must be a whole number from 1 to " +
                                    std::to_string(max_threads) + "; got '" + *value +
                                    "'. Unset it to use every processor available.");
    }
    return count;
}

// The affinity mask, because a container or a batch system often grants fewer processors than
// the machine has.
int processors() {
    int count = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) count = CPU_COUNT(&mask);
#endif
    return std::clamp(count, 1, max_threads);
}

int default_threads() {
    if (const auto count = threads_from("MERCER_NUM_THREADS", false)) return *count;
    if (const auto count = threads_from("OMP_NUM_THREADS", true)) return *count;
    return processors();
}

std::atomic<int> chosen_threads{0};  // 0: nothing chosen, the default holds

}  // namespace

std::string_view name(Isa isa) {
    constexpr std::string_view names[] = {"baseline", "avx2", "avx512"};
    return names[static_cast<int>(isa)];
}

Isa isa() {
    static const Isa chosen = choose_isa();
    return chosen;
}

int num_threads() {
    if (const int count = chosen_threads.load(std::memory_order_relaxed)) return count;
    static const int fallback = default_threads();
    return fallback;
}

void set_num_threads(int count) {
    if (!in_range(count)) {
        throw std::invalid_argument("set_num_threads: count must be from 1 to " +
                                    std::to_string(max_threads) + "; got " + std::to_string(count) +
                                    ".");
    }
    chosen_threads.store(count, std::memory_order_relaxed);
}

}  // namespace mercer
