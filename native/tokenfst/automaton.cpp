#include "tokenfst/automaton.h"

#include "support/parallel.h"

namespace tokenfst {

void fill_masks(std::span<const MaskJob> jobs, std::span<uint32_t> out, size_t width, int num_threads) {
  support::in_parallel(jobs.size(), num_threads, [&](size_t job) {
    jobs[job].automaton->fill(jobs[job].state, jobs[job].remaining, out.subspan(job * width, width));
  });
}

}  // namespace tokenfst
