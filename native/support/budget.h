// Budget: the memory and time that one piece of work may take, and its cancellation.
//
//     LimitExceeded   thrown when a limit is exceeded: which one, and its value
//     Cancelled       thrown when another thread has cancelled the work
//     Budget          counts bytes; polls the clock, the stop flag and signals
//     Charge          charges bytes during its lifetime
//     Allocator       charges a budget for the allocations of a standard container
//     Vector, Map     std::vector and std::unordered_map with that allocator
//
// Data that grows with its input lives in a Vector, so peak memory is known and bounded. Every loop calls `spend` with
// the number of elementary steps that it has made. A step takes a few nanoseconds; the budget polls the clock every
// kCredit steps, which is well below a millisecond.
//
// A budget belongs to one thread at a time. Only `cancel` may be called from another one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace support {

enum class Limit { kMemory, kStates, kSeconds };

class LimitExceeded : public std::exception {
 public:
  // `amount` is what the limit allows: bytes, states or seconds.
  LimitExceeded(Limit limit, double amount) : limit_(limit), amount_(amount) {}
  Limit limit() const { return limit_; }
  double amount() const { return amount_; }
  const char* what() const noexcept override { return "a limit was exceeded"; }

 private:
  Limit limit_;
  double amount_;
};

// Throw LimitExceeded if there are more states than are allowed.
inline void require_at_most(int64_t num_states, int64_t max_states) {
  if (num_states > max_states) throw LimitExceeded(Limit::kStates, static_cast<double>(max_states));
}

class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the work was cancelled"; }
};

class Budget {
 public:
  // Called every few milliseconds of work; throws to stop it. Bindings look for signals here.
  using Interrupt = void (*)();

  Budget(int64_t max_bytes, double max_seconds, Interrupt interrupt);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Throw LimitExceeded if `bytes` more would exceed the limit.
  void charge(size_t bytes) {
    if (used_ > max_bytes_ || bytes > static_cast<size_t>(max_bytes_ - used_)) {
      throw LimitExceeded(Limit::kMemory, static_cast<double>(max_bytes_));
    }
    used_ += static_cast<int64_t>(bytes);
    if (used_ > peak_) peak_ = used_;
  }
  void release(size_t bytes) noexcept { used_ -= static_cast<int64_t>(bytes); }

  // Account for elementary steps of work. Throw LimitExceeded, Cancelled, or what the interrupt throws.
  void spend(int64_t steps) {
    if ((credit_ -= steps) <= 0) poll();
  }
  // Look at the stop flag, the clock and, every few milliseconds, at signals.
  void poll();

  // Make `poll` check another budget too, from now on; none if null.
  void watch(Budget* other) { watched_ = other; }
  // Make `poll` throw Cancelled from now on. Safe to call from any thread.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }

  int64_t used_bytes() const { return used_; }
  int64_t peak_bytes() const { return peak_; }
  int64_t max_bytes() const { return max_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kCredit = 1 << 15;
  static constexpr std::chrono::milliseconds kBetweenInterrupts{10};

  int64_t credit_ = kCredit;
  int64_t used_ = 0, peak_ = 0;
  const int64_t max_bytes_;
  const double max_seconds_;
  Clock::time_point deadline_, next_interrupt_;
  std::atomic<bool> cancelled_{false};
  const Interrupt interrupt_;
  Budget* watched_ = nullptr;
};

class Charge {
 public:
  Charge(Budget& budget, size_t bytes) : budget_(budget), bytes_(bytes) { budget.charge(bytes); }
  ~Charge() { budget_.release(bytes_); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

 private:
  Budget& budget_;
  const size_t bytes_;
};

template <class T>
class Allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  // Not explicit, so that a container is given its budget.
  Allocator(Budget& budget) : budget_(&budget) {}
  template <class U>
  Allocator(const Allocator<U>& other) : budget_(other.budget()) {}

  T* allocate(size_t count) {
    budget_->charge(count * sizeof(T));
    try {
      return std::allocator<T>().allocate(count);
    } catch (...) {
      budget_->release(count * sizeof(T));
      throw;
    }
  }
  void deallocate(T* data, size_t count) noexcept {
    std::allocator<T>().deallocate(data, count);
    budget_->release(count * sizeof(T));
  }
  Budget* budget() const { return budget_; }
  friend bool operator==(const Allocator&, const Allocator&) = default;

 private:
  Budget* budget_;
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;

template <class Key, class Value, class Hash>
using Map = std::unordered_map<Key, Value, Hash, std::equal_to<Key>, Allocator<std::pair<const Key, Value>>>;

// Return a plain copy of the exact size, to be handed out; it stays charged.
template <class T>
std::vector<T> charged_copy(const Vector<T>& values, Budget& budget) {
  budget.charge(sizeof(T) * values.size());
  return {values.begin(), values.end()};
}

// Return the memory of some vectors, room for further elements included.
template <class... T>
size_t bytes_of(const Vector<T>&... vectors) {
  return (... + (sizeof(T) * vectors.capacity()));
}

// Empty some vectors, and give back their memory.
template <class... T>
void drop(Vector<T>&... vectors) noexcept {
  (Vector<T>(vectors.get_allocator()).swap(vectors), ...);
}

// Reserve room for more elements, so that adding them does not throw.
template <class T>
void reserve_more(Vector<T>& values, size_t more) {
  if (values.capacity() - values.size() < more) [[unlikely]]
    values.reserve(2 * values.size() + more + 16);
}

}  // namespace support
