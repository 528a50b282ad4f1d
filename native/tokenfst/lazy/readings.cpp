// Reads a LazyNfa: where its states lead, byte by byte and by epsilon arcs, including those that count units.
#include <algorithm>

#include "tokenfst/lazy/nfa.h"

namespace tokenfst {

using automata::kEndless;
using automata::kNone;

std::pair<int32_t, int32_t> LazyNfa::in_copy(int32_t state) const {
  const auto behind = std::ranges::upper_bound(copies_, state, {}, &Copy::first_state);
  const auto copy = static_cast<int32_t>(behind - copies_.begin()) - 1;
  return {copy, state - copies_[copy].first_state + 2};
}

LazyNfa::Counted LazyNfa::counted(int32_t state) const {
  const int32_t block = (state - first_block_) / block_size_;
  return {counters_[blocks_[block].counter], blocks_[block].units, (state - first_block_) % block_size_, block};
}

bool LazyNfa::goes_on(const Counter& counter, int32_t units, int32_t inner) const {
  const automata::CountedState& state = number(counter, inner);
  if (units == kWithin) return true;
  if (units == kBelow) return state.most == kEndless;
  const int64_t count = int64_t{units} + state.is_counted;
  return (counter.high == kNone || count + state.least <= counter.high) && count + state.most >= counter.low;
}

// The arc of a chain after `place` bytes.
void LazyNfa::chain_arc(int32_t chain, int32_t place, Vector<ClassArc>& arcs) const {
  const Chain& own = chains_[chain];
  const int32_t column = text_[own.text_begin + place], next = own.first_state + place;
  arcs.push_back({column, column, next < chains_[chain + 1].first_state ? next : own.target});
}

void LazyNfa::copied_arcs(int32_t copy, int32_t inner, Vector<ClassArc>& arcs) const {
  const Copy& own = copies_[copy];
  const int32_t first = first_of_fragment_[own.fragment];
  for (const ClassArc& arc : fragment_arcs(first + inner)) {
    const int32_t target = arc.target - first;
    arcs.push_back({arc.low, arc.high, target == 1 ? own.target : own.first_state + target - 2});
  }
}

void LazyNfa::counted_arcs(int32_t state, Vector<ClassArc>& arcs) {
  const Counted at = counted(state);
  const int32_t first = first_of_fragment_[at.counter.fragment];
  for (const ClassArc& arc : fragment_arcs(first + at.inner)) {
    const int32_t inner = arc.target - first;
    if (!goes_on(at.counter, at.units, inner)) continue;
    int32_t target = state - at.inner + inner;
    if (inner == 1) {
      target = at.counter.target;
    } else if (number(at.counter, inner).is_counted) {
      target = first_block_ + next_block(at) * block_size_ + inner;
    }
    arcs.push_back({arc.low, arc.high, target});
  }
}

int32_t LazyNfa::next_block(const Counted& at) {
  if (at.units < 0) return at.block;
  const int32_t counter = blocks_[at.block].counter;
  if (at.counter.high == kNone && at.units + 1 >= at.counter.low) return kFixedBlocks * counter - kWithin;
  if (blocks_[at.block].next == kNone) {
    if (num_states() > INT32_MAX - 2 * block_size_) {
      throw support::LimitExceeded(support::Limit::kStates, INT32_MAX);
    }
    blocks_.push_back({counter, at.units + 1, kNone});
    blocks_[at.block].next = static_cast<int32_t>(blocks_.size()) - 1;
  }
  return blocks_[at.block].next;
}

void LazyNfa::arcs_of(int32_t state, Vector<ClassArc>& arcs) {
  if (state >= first_block_) return counted_arcs(state, arcs);
  if (state < num_outer()) {
    for (const Edge& edge : edges_of(state)) {
      if (edge.is_copy) {
        copied_arcs(edge.number, 0, arcs);
      } else {
        chain_arc(edge.number, 0, arcs);
      }
    }
  } else if (state < chains_.back().first_state) {
    const auto behind = std::ranges::upper_bound(chains_, state, {}, &Chain::first_state);
    const auto chain = static_cast<int32_t>(behind - chains_.begin()) - 1;
    chain_arc(chain, state - chains_[chain].first_state + 1, arcs);
  } else {
    const auto [copy, inner] = in_copy(state);
    copied_arcs(copy, inner, arcs);
  }
}

// Where the text of a counter begins.
int32_t LazyNfa::first_state(int32_t counter) const {
  const Counter& own = counters_[counter];
  const bool is_bounded = own.low > 0 || own.high != kNone;
  const int32_t block = kFixedBlocks * counter - (is_bounded ? 0 : kWithin);
  return first_block_ + block * block_size_ + own.entry;
}

void LazyNfa::copied_epsilon(int32_t copy, int32_t inner, Vector<int32_t>& targets) const {
  const Copy& own = copies_[copy];
  const int32_t first = first_of_fragment_[own.fragment];
  for (int32_t reached : fragment_epsilon(first + inner)) {
    const int32_t target = reached - first;
    targets.push_back(target == 1 ? own.target : own.first_state + target - 2);
  }
}

void LazyNfa::epsilon_of(int32_t state, Vector<int32_t>& targets) const {
  if (state >= first_block_) {
    // Appends the end, if texts may end here.
    const Counted at = counted(state);
    const int32_t first = first_of_fragment_[at.counter.fragment];
    const bool ends = std::ranges::count(fragment_epsilon(first + at.inner), first + 1) > 0;
    if (ends && goes_on(at.counter, at.units, 1)) targets.push_back(at.counter.target);
  } else if (state < num_outer()) {
    for (int32_t at = epsilon_offsets_[state]; at < epsilon_offsets_[state + 1]; ++at) {
      targets.push_back(epsilon_[at] >= 0 ? epsilon_[at] : first_state(-1 - epsilon_[at]));
    }
    for (const Edge& edge : edges_of(state)) {
      if (edge.is_copy) copied_epsilon(edge.number, 0, targets);
    }
  } else if (state >= chains_.back().first_state) {
    const auto [copy, inner] = in_copy(state);
    copied_epsilon(copy, inner, targets);
  }
}

bool LazyNfa::is_kept(int32_t state) const {
  if (state >= first_block_) {
    const Counted at = counted(state);
    const int32_t first = first_of_fragment_[at.counter.fragment];
    return std::ranges::any_of(fragment_arcs(first + at.inner),
                               [&](const ClassArc& arc) { return goes_on(at.counter, at.units, arc.target - first); });
  }
  if (state < num_outer()) {
    return call_of_[state] != kNone || exit_of_[state] != kNone ||
           std::ranges::any_of(edges_of(state), [&](const Edge& edge) {
             return !edge.is_copy || !fragment_arcs(first_of_fragment_[copies_[edge.number].fragment]).empty();
           });
  }
  if (state < chains_.back().first_state) return true;
  const auto [copy, inner] = in_copy(state);
  return !fragment_arcs(first_of_fragment_[copies_[copy].fragment] + inner).empty();
}

int32_t LazyNfa::far_state(int32_t state, int32_t longest) const {
  if (state < first_block_) return state;
  const Counted at = counted(state);
  const int64_t units = at.units, low = at.counter.low, high = at.counter.high;
  // No token ends more units than it has bytes.
  if (units < 0 || (high != kNone && units > high - longest - at.counter.slack)) return state;
  int32_t far = kWithin;
  if (units < low) {
    if (units >= low - longest || !at.counter.all_endless) return state;
    far = kBelow;
  }
  const int32_t block = kFixedBlocks * blocks_[at.block].counter - far;
  return first_block_ + block * block_size_ + at.inner;
}

bool LazyNfa::misses_none(int32_t state) const {
  if (state < first_block_) return true;
  const Counted at = counted(state);
  return !(0 <= at.units && at.units < at.counter.low) && at.counter.high == kNone;
}

}  // namespace tokenfst
