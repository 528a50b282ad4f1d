// Reads a LazyNfa: where its states lead, byte by byte and by epsilon arcs, including those that count units.
#include <algorithm>

#include "tokenfst/lazy/nfa.h"
#include "tokenfst/lazy/texts.h"

namespace tokenfst {

using automata::kEndless;
using automata::kNone;

int32_t LazyNfa::copy_of(int32_t state) const {
  const int32_t page = (state - chains_.back().first_state) >> copy_page_bits_;
  const auto first = copies_.begin() + copy_pages_[page] + 1, end = copies_.begin() + copy_pages_[page + 1] + 1;
  const auto next = first == end ? first : std::upper_bound(first, end, state, [](int32_t at, const Copy& copy) {
    return at < copy.first_state;
  });
  return static_cast<int32_t>(next - copies_.begin()) - 1;
}

LazyNfa::Counted LazyNfa::counted(int32_t state) const {
  const int32_t number = block_of_page_[(state - first_block_) / kPage];
  const Block& block = blocks_[number];
  return {counters_[block.counter], block.units, state - block.first_state, number};
}

bool LazyNfa::can_continue(const Counter& counter, int32_t units, int32_t inner) const {
  const automata::CountedState& state = number(counter, inner);
  if (units == kWithin) return true;
  if (units == kBelow) return state.most == kEndless;
  const int64_t count = int64_t{units} + state.is_counted;
  return (counter.high == kNone || count + state.least <= counter.high) && count + state.most >= counter.low;
}

std::pair<int32_t, int32_t> LazyNfa::in_chain(int32_t state) const {
  const auto behind = std::ranges::upper_bound(chains_, state, {}, &Chain::first_state);
  const auto chain = static_cast<int32_t>(behind - chains_.begin()) - 1;
  return {chain, state - chains_[chain].first_state + 1};
}

std::pair<int32_t, int32_t> LazyNfa::detached_with_flags(int32_t state) {
  const auto [own, flags] = apart(state);
  if (!is_in_chain(own)) return {kNone, kNone};
  return {own - num_outer() + first_detached_, with_flags(chains_[in_chain(own).first].target, flags)};
}

// Append the arc of a chain after `place` bytes.
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
    if (!can_continue(at.counter, at.units, inner)) continue;
    int32_t target = state - at.inner + inner;
    if (inner == 1) {
      target = at.counter.target;
    } else if (number(at.counter, inner).is_counted) {
      target = blocks_[next_block(at)].first_state + inner;
    }
    arcs.push_back({arc.low, arc.high, target});
  }
}

int32_t LazyNfa::next_block(const Counted& at) {
  if (at.units < 0) return at.block;
  const int32_t counter = blocks_[at.block].counter;
  if (at.counter.high == kNone && at.units + 1 >= at.counter.low) return kFixedBlocks * counter - kWithin;
  if (blocks_[at.block].next == kNone) {
    const int32_t next = block_of(counter, at.units + 1);
    blocks_[at.block].next = next;
  }
  return blocks_[at.block].next;
}

int32_t LazyNfa::block_of(int32_t counter, int32_t units) {
  if (units <= 0) return kFixedBlocks * counter - units;
  const auto known = made_blocks_.find({counter, units});
  if (known != made_blocks_.end()) return known->second;
  add_block(counter, units);
  return made_blocks_[{counter, units}] = static_cast<int32_t>(blocks_.size()) - 1;
}

void LazyNfa::add_block(int32_t counter, int32_t units) {
  const int32_t fragment = counters_[counter].fragment;
  const int32_t size = first_of_fragment_[fragment + 1] - first_of_fragment_[fragment];
  const int32_t pages = (size + kPage - 1) / kPage, first = num_states();
  if (first > INT32_MAX - kPage * (pages + 1)) throw support::LimitExceeded(support::Limit::kStates, INT32_MAX);
  support::reserve_more(blocks_, 1);
  support::reserve_more(block_of_page_, pages);
  block_of_page_.insert(block_of_page_.end(), pages, static_cast<int32_t>(blocks_.size()));
  blocks_.push_back({counter, units, kNone, first});
}

void LazyNfa::forget_made_states() {
  Budget& budget = *blocks_.get_allocator().budget();
  blocks_.erase(blocks_.begin() + kFixedBlocks * std::ssize(counters_), blocks_.end());
  for (Block& block : blocks_) block.next = kNone;
  block_of_page_.erase(block_of_page_.begin() + (num_first_states_ - first_block_) / kPage, block_of_page_.end());
  made_blocks_.clear();
  flagged_pages_.clear();
  flagged_ = support::ValueInterner<FlaggedState>(budget);
  flag_sets_ = FlagSets(budget);
}

// The state without flags, or a counter, its units and the state of its fragment; then the words of the flags.
void LazyNfa::describe(int32_t state, Vector<int32_t>& out) const {
  const auto [own, flags] = apart(state);
  if (own < first_block_) {
    out.push_back(own);
  } else {
    const Counted at = counted(own);
    for (const int32_t part : {-1 - blocks_[at.block].counter, at.units, at.inner}) out.push_back(part);
  }
  const std::span<const uint64_t> words = flag_sets_[flags];
  out.push_back(static_cast<int32_t>(words.size()));
  for (const uint64_t word : words) {
    for (const uint64_t half : {word, word >> 32}) out.push_back(static_cast<int32_t>(static_cast<uint32_t>(half)));
  }
}

int32_t LazyNfa::described(std::span<const int32_t>& description) {
  const auto next = [&] {
    const int32_t value = description.front();
    description = description.subspan(1);
    return value;
  };
  int32_t own = next();
  if (own < 0) {
    const int32_t units = next(), block = block_of(-1 - own, units);
    own = blocks_[block].first_state + next();
  }
  Vector<uint64_t> words(*blocks_.get_allocator().budget());
  for (int32_t left = next(); left; --left) {
    const uint64_t low = static_cast<uint32_t>(next());
    words.push_back(low | uint64_t{static_cast<uint32_t>(next())} << 32);
  }
  return with_flags(own, flag_sets_.number(words));
}

// States with flags.

int32_t LazyNfa::with_flags(int32_t state, int32_t flags) {
  if (flags == 0) return state;
  const int32_t first = num_states();
  if (flagged_.size() % kPage == 0) {
    if (first > INT32_MAX - 2 * kPage) throw support::LimitExceeded(support::Limit::kStates, INT32_MAX);
    support::reserve_more(flagged_pages_, 1);
    support::reserve_more(block_of_page_, 1);
  }
  const auto [number, is_new] = flagged_.intern({state, flags});
  if (is_new && number % kPage == 0) {
    block_of_page_.push_back(-1 - number / kPage);
    flagged_pages_.push_back(first);
  }
  return flagged_pages_[number / kPage] + number % kPage;
}

// Add flags to the targets of arcs, neighbours among which often share one.
void LazyNfa::add_flags(std::span<ClassArc> arcs, int32_t flags) {
  if (flags == 0) return;
  int32_t target = kNone, flagged = kNone;
  for (ClassArc& arc : arcs) {
    if (arc.target != target) flagged = with_flags(target = arc.target, flags);
    arc.target = flagged;
  }
}

bool LazyNfa::is_open(const automata::GuardedArc& arc, int32_t flags) const {
  if (arc.sets != kNone && flag_sets_.has(flags, arc.sets)) return false;
  int32_t condition = arc.condition;
  while (condition > automata::kTrue) {
    const automata::Decision& decision = decisions_[condition - 2];
    condition = flag_sets_.has(flags, decision.flag) ? decision.high : decision.low;
  }
  return condition == automata::kTrue;
}

int32_t LazyNfa::target_of(const automata::GuardedArc& arc, int32_t flags) {
  return with_flags(arc.target, arc.sets == kNone ? flags : flag_sets_.with(flags, arc.sets));
}

void LazyNfa::arcs_of(int32_t state, Vector<ClassArc>& arcs) {
  const auto [own, flags] = apart(state);
  const size_t first = arcs.size();
  append_arcs(own, arcs);
  add_flags(std::span(arcs).subspan(first), flags);
  if (is_direct(own)) append_guarded(own, flags, arcs);
}

void LazyNfa::append_guarded(int32_t state, int32_t flags, Vector<ClassArc>& arcs) {
  const size_t begin = arcs.size();
  for (const automata::GuardedArc& arc : guarded_arcs(state)) {
    if (!is_open(arc, flags)) continue;
    const int32_t after = arc.sets == kNone ? flags : flag_sets_.with(flags, arc.sets);
    const size_t first = arcs.size();
    append_arcs(arc.target, arcs);
    add_flags(std::span(arcs).subspan(first), after);
  }
  std::ranges::sort(std::span(arcs).subspan(begin), {}, &ClassArc::low);
}

void LazyNfa::append_arcs(int32_t state, Vector<ClassArc>& arcs) {
  if (state >= first_block_) return counted_arcs(state, arcs);
  if (is_detached(state)) {
    if (state == first_block_ - 1) return;
    const auto [chain, place] = in_chain(state - first_detached_ + num_outer());
    chain_arc(chain, place, arcs);
    int32_t& target = arcs.back().target;
    target = target == chains_[chain].target ? first_block_ - 1 : target - num_outer() + first_detached_;
    return;
  }
  if (state < num_outer()) {
    for (const Edge& edge : edges_of(state)) {
      if (edge.is_copy) {
        copied_arcs(edge.number, 0, arcs);
      } else {
        chain_arc(edge.number, 0, arcs);
      }
    }
  } else if (is_in_chain(state)) {
    const auto [chain, place] = in_chain(state);
    chain_arc(chain, place, arcs);
  } else {
    const auto [copy, inner] = in_copy(state);
    copied_arcs(copy, inner, arcs);
  }
}

// Return the state where the text of a counter begins.
int32_t LazyNfa::first_state(int32_t counter) const {
  const Counter& own = counters_[counter];
  const bool is_bounded = own.low > 0 || own.high != kNone;
  const int32_t block = kFixedBlocks * counter - (is_bounded ? 0 : kWithin);
  return blocks_[block].first_state + own.entry;
}

void LazyNfa::copied_epsilon(int32_t copy, int32_t inner, Vector<int32_t>& targets) const {
  const Copy& own = copies_[copy];
  const int32_t first = first_of_fragment_[own.fragment];
  for (int32_t reached : fragment_epsilon(first + inner)) {
    const int32_t target = reached - first;
    targets.push_back(target == 1 ? own.target : own.first_state + target - 2);
  }
}

void LazyNfa::epsilon_of(int32_t state, Vector<int32_t>& targets) {
  const auto [own, flags] = apart(state);
  const size_t first = targets.size();
  append_epsilon(own, targets);
  for (size_t at = first; flags && at < targets.size(); ++at) targets[at] = with_flags(targets[at], flags);
  for (const automata::GuardedArc& arc : is_direct(own) ? std::span<const automata::GuardedArc>() : guarded_arcs(own)) {
    if (is_open(arc, flags)) targets.push_back(target_of(arc, flags));
  }
}

void LazyNfa::append_epsilon(int32_t state, Vector<int32_t>& targets) const {
  if (state >= first_block_) {
    // Append the state after the counter, if its text may end here.
    const Counted at = counted(state);
    const int32_t first = first_of_fragment_[at.counter.fragment];
    const bool ends = std::ranges::count(fragment_epsilon(first + at.inner), first + 1) > 0;
    if (ends && can_continue(at.counter, at.units, 1)) targets.push_back(at.counter.target);
  } else if (state < num_outer()) {
    for (int32_t at = epsilon_offsets_[state]; at < epsilon_offsets_[state + 1]; ++at) {
      targets.push_back(epsilon_[at] >= 0 ? epsilon_[at] : first_state(-1 - epsilon_[at]));
    }
    for (const Edge& edge : edges_of(state)) {
      if (edge.is_copy) copied_epsilon(edge.number, 0, targets);
    }
  } else if (state >= chains_.back().first_state && !is_detached(state)) {
    const auto [copy, inner] = in_copy(state);
    copied_epsilon(copy, inner, targets);
  }
}

bool LazyNfa::is_kept(int32_t numbered) const {
  const int32_t state = apart(numbered).state;
  if (state >= first_block_) {
    const Counted at = counted(state);
    const int32_t first = first_of_fragment_[at.counter.fragment];
    return std::ranges::any_of(fragment_arcs(first + at.inner), [&](const ClassArc& arc) {
      return can_continue(at.counter, at.units, arc.target - first);
    });
  }
  if (state < num_outer()) {
    return is_direct(state) || call_of_[state] != kNone || exit_of_[state] != kNone ||
           std::ranges::any_of(edges_of(state), [&](const Edge& edge) {
             return !edge.is_copy || !fragment_arcs(first_of_fragment_[copies_[edge.number].fragment]).empty();
           });
  }
  if (state < chains_.back().first_state || is_detached(state)) return true;
  const auto [copy, inner] = in_copy(state);
  return !fragment_arcs(first_of_fragment_[copies_[copy].fragment] + inner).empty();
}

bool LazyNfa::is_plain(int32_t numbered) const {
  if (chains_.back().first_state <= numbered && numbered < first_detached_) {  // as most are
    const auto [copy, inner] = in_copy(numbered);
    return only_reads_[first_of_fragment_[copies_[copy].fragment] + inner];
  }
  const int32_t state = apart(numbered).state;
  if (state < num_outer() || state >= first_block_) return false;
  if (is_in_chain(state)) return true;
  if (is_detached(state)) return state != first_block_ - 1;
  const auto [copy, inner] = in_copy(state);
  return only_reads_[first_of_fragment_[copies_[copy].fragment] + inner];
}

int32_t LazyNfa::twin_number(int32_t numbered) const {
  const int32_t state = apart(numbered).state;
  if (state < chains_.back().first_state || state >= first_detached_) return kNone;
  const auto [copy, inner] = in_copy(state);
  const int32_t fragment = copies_[copy].fragment;
  return fragments_[fragment]->is_deterministic() ? first_of_fragment_[fragment] + inner : kNone;
}

bool LazyNfa::is_free(int32_t numbered) const {
  const int32_t state = apart(numbered).state;
  if (state < chains_.back().first_state || state >= first_detached_) return false;
  const auto [copy, inner] = in_copy(state);
  return fragments_[copies_[copy].fragment]->is_free(inner);
}

int32_t LazyNfa::far_state(int32_t numbered, int32_t longest) {
  const auto [state, flags] = apart(numbered);
  if (state < first_block_) return numbered;
  const Counted at = counted(state);
  const int64_t units = at.units, low = at.counter.low, high = at.counter.high;
  // No token ends more units than it has bytes.
  if (units < 0 || (high != kNone && units > high - longest - at.counter.slack)) return numbered;
  int32_t far = kWithin;
  if (units < low) {
    if (units >= low - longest || !at.counter.all_endless) return numbered;
    far = kBelow;
  }
  const int32_t block = kFixedBlocks * blocks_[at.block].counter - far;
  return with_flags(blocks_[block].first_state + at.inner, flags);
}

int32_t LazyNfa::one_further(int32_t numbered, int32_t following) {
  const auto [state, flags] = apart(numbered);
  const auto [next, same_flags] = apart(following);
  if (flags != same_flags) return kNone;
  if (state < first_block_ || next < first_block_) return kNone;
  const Counted at = counted(state), behind = counted(next);
  if (at.units < 0 || blocks_[at.block].next != behind.block || behind.inner != at.inner) return kNone;
  const int64_t most = int64_t{behind.units} + 1 + at.counter.slack;
  if (at.units < at.counter.low || (at.counter.high != kNone && most > at.counter.high)) return kNone;
  return with_flags(blocks_[next_block(behind)].first_state + at.inner, flags);
}

int32_t LazyNfa::bytes_within(int32_t numbered) const {
  const int32_t state = apart(numbered).state;
  if (state < first_block_) return INT32_MAX;
  const Counted at = counted(state);
  if (0 <= at.units && at.units < at.counter.low) return 0;
  const bool is_endless = at.units < 0 || at.counter.high == kNone;
  return is_endless ? INT32_MAX : std::max(at.counter.high - at.units - at.counter.slack, 0);
}

}  // namespace tokenfst
