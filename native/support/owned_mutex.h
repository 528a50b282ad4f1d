// OwnedMutex: a mutex that knows which thread holds it.
//
// Long work polls signals, and a signal handler in Python may use the object that is being worked on. A thread that
// waited for itself would never end, so `lock` throws instead, and `try_lock` fails.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace support {

// For std::lock_guard and std::unique_lock.
class OwnedMutex {
 public:
  // Throw std::runtime_error if this thread holds the mutex already.
  void lock() {
    if (is_held_by_this_thread()) {
      throw std::runtime_error("this thread is at work on the automaton, which a signal handler cannot use meanwhile");
    }
    mutex_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (is_held_by_this_thread() || !mutex_.try_lock()) return false;
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    owner_.store(std::thread::id(), std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  // Only this thread can have made it true, so no order with other memory is needed.
  bool is_held_by_this_thread() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

}  // namespace support
