#include "constraints/containers/container_states.h"

namespace constraints {

std::vector<bool> ContainerStates::lead_to_end(const std::set<int32_t>& empty) const {
  // By state, the states that lead to it.
  std::vector<std::vector<int32_t>> before(num_states());
  std::vector<int32_t> waiting;
  std::vector<bool> found(num_states());
  const auto reach = [&](int32_t state) {
    if (found[state]) return;
    found[state] = true;
    waiting.push_back(state);
  };
  for (int32_t state = 0; state < num_states(); ++state) {
    for (int32_t at = 0; at < num_moves(state); ++at) {
      for (const Outcome& outcome : move(state, at).outcomes) {
        if (!empty.contains(outcome.value)) before[outcome.target].push_back(state);
      }
    }
    for (int32_t skipped : skips(state)) before[skipped].push_back(state);
    if (exits_[state] >= 0) reach(state);
  }
  while (!waiting.empty()) {
    const int32_t state = waiting.back();
    waiting.pop_back();
    for (int32_t source : before[state]) reach(source);
  }
  return found;
}

}  // namespace constraints
