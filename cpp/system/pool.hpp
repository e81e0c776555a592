// Threads for native loops: a few std::threads that sleep between jobs.
//
// Not OpenMP: its runtime hangs in a forked child and spins for milliseconds on a busy machine.
#pragma once

#include <cstdint>
#include <functional>

namespace mercer {

// Called by the thread that waits for a job, every few milliseconds; true asks to stop.
using Poll = std::function<bool()>;

// Runs task(0) ... task(count - 1), each once, on at most num_threads() threads of which the
// caller is one; `worker` is below that number and no two tasks with the same worker overlap.
// Returns false if `poll` asked to stop before all were done. The first exception of a task stops
// the rest and is thrown again here. alone: on the calling thread, as worker 0 and without `poll`,
// for work that is done before another thread would have woken up.
bool parallel_for(std::int64_t count,
                  const std::function<void(std::int64_t task, int worker)>& task, const Poll& poll,
                  bool alone = false);

// The same with a fixed share for each worker (worker, worker + threads, ...), so that what a
// worker sums up does not depend on which of them was faster; alone: nor on this, because the
// calling thread does the share of every worker under its number.
bool parallel_in_turn(std::int64_t count,
                      const std::function<void(std::int64_t task, int worker)>& task,
                      const Poll& poll, bool alone = false);

// For a task that takes long, in the midst of it: whether to give up. Its worker asks every few
// milliseconds or less; only the caller's own, 0, can call `poll`.
bool stop_asked(int worker);

}  // namespace mercer
