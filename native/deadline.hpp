// The time budget of a solve, in processor time of the calling thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace poise {

// Processor time instead of wall time: what other programs do on a busy machine does not change a solution. Where the
// thread has a core of its own, both are the same.
class Deadline {
 public:
  using Time = std::chrono::nanoseconds;

  // Starts the budget; not finite: there is no limit.
  void start(double seconds) {
    limited_ = std::isfinite(seconds);
    if (!limited_) return;
    const Time whole(static_cast<long long>(std::clamp(seconds, 0.0, 1e9) * 1e9));
    budget_ = whole - std::min(whole / 5, last_step_);
    wall_start_ = wall_time();
    processor_start_ = processor_time();
  }

  // Whether the budget is used up. A thread never uses more processor time than wall time passes, so the clock of the
  // processor, a system call, is read only after the wall clock has passed the budget.
  bool passed() const {
    return limited_ && wall_time() - wall_start_ >= budget_ && processor_time() - processor_start_ >= budget_;
  }

 private:
  static Time wall_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

  static Time processor_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
      return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
#endif
    return wall_time();
  }

  // About half the time of completing a point after the end of the search (ns); at most a fifth of the budget.
  static constexpr Time last_step_{5000};

  bool limited_ = false;
  Time budget_{0}, wall_start_{0}, processor_start_{0};
};

}  // namespace poise
