#include "system/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "system/cpu.hpp"

namespace mercer {
namespace {

constexpr auto poll_every = std::chrono::milliseconds(20);

// One job at a time; a second caller waits for the first.
class Pool {
public:
    bool run(std::int64_t count, const std::function<void(std::int64_t, int)>& task, int threads,
             bool in_turn, const Poll& poll) {
        const std::lock_guard<std::mutex> turn(one_job_);
        grow(threads - 1);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            task_ = &task;
            count_ = count;
            next_ = 0;
            stopped_ = false;
            failure_ = nullptr;
            wanted_ = threads - 1;
            step_ = in_turn ? threads : 0;
            running_ = threads - 1;
            poll_ = &poll;
            polled_ = std::chrono::steady_clock::now();
            ++generation_;
        }
        wake_.notify_all();
        work(0);
        std::unique_lock<std::mutex> lock(mutex_);
        while (!done_.wait_for(lock, poll_every, [this] { return running_ == 0; })) {
            lock.unlock();
            if (poll && poll()) stopped_ = true;
            lock.lock();
        }
        if (failure_) std::rethrow_exception(failure_);
        return !stopped_;
    }

    bool stop_asked(int worker) {
        if (worker == 0 && *poll_) {
            const auto now = std::chrono::steady_clock::now();
            if (now - polled_ >= poll_every) {
                polled_ = now;
                if ((*poll_)()) stopped_ = true;
            }
        }
        return stopped_;
    }

private:
    void grow(int helpers) {
        while (static_cast<int>(threads_.size()) < helpers) {
            const int worker = static_cast<int>(threads_.size()) + 1;
            threads_.emplace_back([this, worker] { serve(worker); });
            threads_.back().detach();  // they live as long as the process
        }
    }

    void serve(int worker) {
        std::uint64_t seen = 0;
        while (true) {
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return generation_ != seen; });
                seen = generation_;
                if (worker > wanted_) continue;
            }
            work(worker);
            const std::lock_guard<std::mutex> lock(mutex_);
            if (--running_ == 0) done_.notify_one();
        }
    }

    void work(int worker) {
        for (std::int64_t turn = worker; !stopped_; turn += step_) {
            const std::int64_t task = step_ > 0 ? turn : next_++;
            if (task >= count_) return;
            try {
                (*task_)(task, worker);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex_);
                if (!failure_) failure_ = std::current_exception();
                stopped_ = true;
            }
            stop_asked(worker);
        }
    }

    std::mutex one_job_, mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    const std::function<void(std::int64_t, int)>* task_ = nullptr;
    std::int64_t count_ = 0;
    std::atomic<std::int64_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::exception_ptr failure_;
    const Poll* poll_ = nullptr;  // these two are the caller's
    std::chrono::steady_clock::time_point polled_;
    int wanted_ = 0, running_ = 0;
    std::int64_t step_ = 0;  // 0: whoever is free takes the next task
    std::uint64_t generation_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
    Pool* current = the_pool.load();
    if (current == nullptr) {
        auto* made = new Pool;
        if (the_pool.compare_exchange_strong(current, made))
            current = made;
        else
            delete made;
#if defined(__unix__) || defined(__APPLE__)
        // The threads do not exist in a forked child: it starts with a pool of its own, and the
        // old one, which another thread may have locked, is left alone.
        static const int registered =
            pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); });
        static_cast<void>(registered);
#endif
    }
    return *current;
}

}  // namespace

bool parallel_for(std::int64_t count, const std::function<void(std::int64_t, int)>& task,
                  const Poll& poll, bool alone) {
    const auto threads = static_cast<int>(std::min<std::int64_t>(num_threads(), count));
    if (alone) {
        for (std::int64_t one = 0; one < count; ++one) task(one, 0);
        return true;
    }
    return count <= 0 || pool().run(count, task, threads, false, poll);
}

bool parallel_in_turn(std::int64_t count, const std::function<void(std::int64_t, int)>& task,
                      const Poll& poll, bool alone) {
    const auto threads = static_cast<int>(std::min<std::int64_t>(num_threads(), count));
    if (alone) {
        for (std::int64_t one = 0; one < count; ++one) task(one, static_cast<int>(one % threads));
        return true;
    }
    return count <= 0 || pool().run(count, task, threads, true, poll);
}

bool stop_asked(int worker) {
    return pool().stop_asked(worker);
}

}  // namespace mercer
