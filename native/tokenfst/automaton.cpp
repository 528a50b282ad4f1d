#include "tokenfst/automaton.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace tokenfst {

void fill_masks(std::span<const MaskJob> jobs, std::span<uint32_t> out, size_t width, int num_threads) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (size_t job = next++; job < jobs.size(); job = next++) {
        jobs[job].automaton->fill(jobs[job].state, jobs[job].remaining, out.subspan(job * width, width));
      }
    } catch (...) {
      next = jobs.size();
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const auto most = std::min<size_t>(std::max(num_threads, 1), jobs.size());
  for (size_t thread = 1; thread < most; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace tokenfst
