// Runs one call for each of a range of numbers in parallel, on several threads including the caller's.
//
// A thread that is done with one number takes the next, so calls may differ in length. Each call starts and joins its
// threads: a few dozen microseconds, for work that takes hundreds. (Rejected: threads that wait for work, which would
// have to be told when an interpreter forks or ends.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace support {

// Call `work(i)` for every i below `count`, on at most `num_threads` threads. The first exception thrown by a call is
// rethrown here, and no call begins after it.
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
  } catch (const std::exception&) {
    // No more threads are available; the existing ones do all of the work.
  }
  run();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace support
