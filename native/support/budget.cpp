#include "support/budget.h"

#include <algorithm>

namespace support {

namespace {

// Far enough to mean never, and near enough that the clock's values do not overflow.
constexpr double kNever = 1e9;

}  // namespace

Budget::Budget(int64_t max_bytes, double max_seconds, Interrupt interrupt)
    : max_bytes_(max_bytes),
      max_seconds_(max_seconds),
      interrupt_(interrupt) {
  const auto now = Clock::now();
  const std::chrono::duration<double> allowed(std::clamp(max_seconds, 0.0, kNever));
  deadline_ = now + std::chrono::duration_cast<Clock::duration>(allowed);
  next_interrupt_ = now + kBetweenInterrupts;
}

void Budget::poll() {
  credit_ = kCredit;
  if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled();
  if (watched_) watched_->poll();
  const auto now = Clock::now();
  if (interrupt_ && now >= next_interrupt_) {
    next_interrupt_ = now + kBetweenInterrupts;
    interrupt_();
  }
  if (now > deadline_) throw LimitExceeded(Limit::kSeconds, max_seconds_);
}

}  // namespace support
