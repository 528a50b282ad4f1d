// In parallel: one call for each of some numbers, on several threads, the caller's among them.
//
// Threads take the next number when they are done with one, so calls may differ in length. They are started and joined
// by each call: a few dozen microseconds, for work that takes hundreds. (Rejected: threads that wait for work, which an
// interpreter that forks or ends would have to be told about.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace support {

// Calls `work(i)` for every i below `count`, on at most `num_threads` threads. What the first call to throw throws is
// thrown here, and no call begins after it.
template <class Work>
void in_parallel(size_t count, int num_threads, const Work& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&]() noexcept {
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const size_t most = std::min<size_t>(static_cast<size_t>(std::max(num_threads, 1)), count);
  others.reserve(most);
  try {
    for (size_t thread = 1; thread < most; ++thread) others.emplace_back(run);
  } catch (const std::system_error&) {
    // There are no more threads to be had; those there are do all of it.
  }
  run();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace support
