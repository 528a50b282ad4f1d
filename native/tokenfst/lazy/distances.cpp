#include "tokenfst/lazy/distances.h"

#include <algorithm>

#include "automata/distance.h"

namespace tokenfst {

ByteDistances::ByteDistances(FixedMachine& machine, Budget& budget) : distances_(budget) {
  Vector<automata::Edge> edges(budget);
  Vector<int32_t> ends(budget);
  for (int32_t state = 0; state < machine.num_states(); ++state) {
    for (int32_t target : machine.row(state)) {
      if (target >= 0) edges.push_back({state, target});
    }
    if (machine.always_may_end(state)) ends.push_back(state);
  }
  distances_ = automata::distances(machine.num_states(), edges, std::span<const int32_t>(ends), budget);
  for (int32_t& distance : distances_) distance = distance == automata::kNone ? kFar : distance;
  for (const int32_t distance : distances_) farthest_ = std::max(farthest_, distance < kFar ? distance : 0);
}

void StackDistances::add(int32_t first, int32_t end) {
  if (contexts_.size() < static_cast<size_t>(end)) contexts_.resize(end, kNoContext);
  for (int32_t cell = first; cell < end; ++cell) {
    const Context below = contexts_[stacks_[cell].below];
    contexts_[cell] = kNoContext;
    if (below.number < 0) continue;
    const Symbol pushed{below.number, stacks_[cell].symbol};
    auto known = above_.find(pushed);
    if (known == above_.end()) known = above_.emplace(pushed, source_.above(pushed.context, pushed.symbol)).first;
    const Context& found = known->second;
    if (found.number >= 0) contexts_[cell] = {found.number, std::min(below.cost + found.cost, kFar)};
  }
}

int32_t StackDistances::bound(int32_t state, int32_t top) {
  for (auto cell = static_cast<int32_t>(bounds_.size()); cell < stacks_.num_kept(); ++cell) {
    const Bound &below = bounds_[stacks_[cell].below], own = source_.bound_of_symbol(stacks_[cell].symbol);
    bounds_.push_back(
        {std::min(below.rest + own.rest, kFar), std::min(std::max(below.rest + own.beyond, below.beyond), kFar)});
  }
  const Bound& below = bounds_[top];
  return std::max(below.rest + source_.bound_of_state(state), below.beyond);
}

int32_t StackDistances::distance(int32_t state, int32_t top) {
  const Context& below = contexts_[top];
  return below.number < 0 ? kFar : std::min(source_.distance(below.number, state) + below.cost, kFar);
}

}  // namespace tokenfst
