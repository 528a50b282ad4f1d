#include "tokenfst/lazy/nfa_distances.h"

#include <algorithm>

namespace tokenfst {

namespace {

using automata::kNone;

constexpr int32_t kUnseen = -1;

}  // namespace

NfaDistances::NfaDistances(SubsetMachine& machine, const Vocabulary& vocabulary, Budget& budget)
    : machine_(machine),
      nfa_(machine.nfa()),
      budget_(budget),
      longest_token_(vocabulary.longest()),
      exits_(machine, vocabulary.whole(), budget),
      vectors_(budget),
      contexts_(budget),
      known_bounds_(budget),
      vector_(budget) {
  vector_.assign(exits_.most_exits(), kFar);
  vector_[0] = 0;
  number(kNone);
}

int32_t NfaDistances::first_exit(int32_t joint, int32_t rule) const {
  const auto rules = machine_.joint_rules(joint);
  const auto place = std::ranges::lower_bound(rules, rule) - rules.begin();
  return static_cast<int32_t>(place) * static_cast<int32_t>(exits_.most_exits());
}

Context NfaDistances::number(int32_t joint) {
  const Context found = vectors_.number(vector_);
  return found.number == kNoContext.number ? found
                                           : Context{contexts_.intern({found.number, joint}).number, found.cost};
}

int32_t NfaDistances::to_end(int32_t context, int32_t state) {
  const auto [vector, joint] = contexts_[context];
  const auto [from, more] = exits_.to_exit(state);
  const auto after = vectors_[vector].subspan(
      joint == kNone || nfa_.is_detached(state) ? 0 : first_exit(joint, exits_.rule_of(state)));
  int32_t least = kFar;
  for (size_t exit = 0; exit < from.size(); ++exit) least = std::min(least, more + from[exit] + after[exit]);
  budget_.spend(static_cast<int64_t>(from.size()));
  return least;
}

int32_t NfaDistances::distance(int32_t context, int32_t set) {
  if (distances_.size() <= static_cast<size_t>(context)) distances_.resize(context + 1, Vector<int32_t>(budget_));
  Vector<int32_t>& known = distances_[context];
  if (known.size() < static_cast<size_t>(machine_.num_states())) known.resize(machine_.num_states(), kUnseen);
  if (known[set] != kUnseen) return known[set];
  int32_t least = kFar;
  for (int32_t member : machine_.members(set)) least = std::min(least, to_end(context, member));
  return known[set] = least;
}

const UpperBounds& NfaDistances::bounds() {
  if (bounds_) return *bounds_;
  return bounds_.emplace(nfa_, exits_, longest_token_, budget_);
}

// Return a state without its flags, in its own rule.
int32_t NfaDistances::in_rule(int32_t state) const {
  return nfa_.is_detached(state) ? state - nfa_.first_detached_ + nfa_.num_outer() : nfa_.apart(state).state;
}

Bound NfaDistances::bound_of_set(int32_t set) {
  if (known_bounds_.size() < static_cast<size_t>(machine_.num_states())) {
    known_bounds_.resize(machine_.num_states(), Bound{kUnseen, kUnseen});
  }
  if (known_bounds_[set].beyond != kUnseen) return known_bounds_[set];
  Bound found{0, 0};
  for (const int32_t member : machine_.members(set)) {
    const int32_t state = in_rule(member);
    if (nfa_.call_of(state) != kNone) found.rest = std::max(found.rest, bounds().after_call(state));
    found.beyond = std::max(found.beyond, bounds().beyond(exits_.rule_of(state)));
  }
  return known_bounds_[set] = found;
}

Bound NfaDistances::bound_of_symbol(int32_t symbol) {
  if (!SubsetMachine::is_state(symbol)) return bound_of_set(symbol);
  const int32_t state = in_rule(SubsetMachine::state_of_symbol(symbol));
  return {bounds().of_state(state), bounds().beyond(exits_.rule_of(state))};
}

Context NfaDistances::above(int32_t context, int32_t called) {
  if (SubsetMachine::is_state(called)) {
    vector_.assign(exits_.most_exits(), kFar);
    vector_[0] = to_end(context, SubsetMachine::state_of_symbol(called));
    return number(kNone);
  }
  const int32_t joint = machine_.joint_call(called);
  const size_t num_rules = joint == kNone ? 1 : machine_.joint_rules(joint).size();
  vector_.assign(num_rules * exits_.most_exits(), kFar);
  for (int32_t member : machine_.members(called)) {
    const int32_t call = nfa_.call_of(member);
    if (call == kNone) continue;
    const int32_t rule = nfa_.rule_of(call), first = joint == kNone ? 0 : first_exit(joint, rule);
    for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
      const int32_t target = nfa_.target_of(member, exit);
      if (target != kNone) vector_[first + exit] = std::min(vector_[first + exit], to_end(context, target));
    }
  }
  return number(joint);
}

// Return whether all states of a set are in one block of a counter that misses many more units than a text may have.
bool NfaDistances::is_even(int32_t set, int32_t longest) {
  const auto members = machine_.members(set);
  int32_t block = kNone;
  for (const int32_t member : members) {
    const int32_t state = nfa_.apart(member).state;
    if (state < nfa_.first_block_) return false;
    const LazyNfa::Counted at = nfa_.counted(state);
    const int64_t fewest = int64_t{at.counter.low} - at.units - longest;
    if (at.units < 0 || !exits_.inside().grows_evenly(at.counter, fewest) || (block != kNone && block != at.block))
      return false;
    block = at.block;
  }
  return block != kNone;
}

}  // namespace tokenfst
