#include "tokenfst/lazy/upper_bounds.h"

#include <algorithm>

#include "support/components.h"

namespace tokenfst {

namespace {

using automata::kNone;

int32_t sum(int32_t one, int32_t other) { return std::min(one + other, kFar); }

// Return the largest of some distances that is not far.
int32_t largest(std::span<const int32_t> distances) {
  int32_t most = 0;
  for (const int32_t distance : distances) most = std::max(most, distance < kFar ? distance : 0);
  return most;
}

}  // namespace

UpperBounds::UpperBounds(const LazyNfa& nfa, const InsideDistances& inside, const Distances& of_state,
                         const Distances& of_rule, int32_t longest_token, Budget& budget)
    : nfa_(nfa),
      inside_(inside),
      of_state_(of_state),
      of_rule_(of_rule),
      budget_(budget),
      longest_(nfa.num_outer(), 0, budget),
      bounds_(nfa.starts().size(), Bound{}, budget) {
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    const Vector<Way> ways = ways_of(rule);
    if (has_flags(rule)) {
      find_longest_ways(rule, ways);
    } else {
      for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) longest_[state] = largest(of_state_(state));
    }
    for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
      bounds_[rule].within = std::max(bounds_[rule].within, longest_[state]);
    }
  }
  find_longest_inside();
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    if (has_flags(rule)) bounds_[rule].within = sum(bounds_[rule].within, sum_of_flags(rule));
  }
  find_beyond(longest_token);
}

bool UpperBounds::has_flags(int32_t rule) const {
  return !nfa_.guarded_.empty() && nfa_.guarded_offsets_[nfa_.starts_[rule]] != nfa_.guarded_offsets_[end_of(rule)];
}

// List the ways between the outer states of a rule on which no flag is set.
Vector<UpperBounds::Way> UpperBounds::ways_of(int32_t rule) {
  Vector<Way> found(budget_);
  for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
    inside_.each_way(state, [&](int32_t distance, int32_t target) { found.push_back({state, target, distance}); });
    for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
      if (arc.sets == kNone) found.push_back({state, arc.target, 0});
    }
    const int32_t call = nfa_.call_of(state);
    if (call == kNone) continue;
    const auto distances = of_rule_(nfa_.rule_of(call));
    for (int32_t exit = 0; exit < nfa_.num_exits(nfa_.rule_of(call)); ++exit) {
      const int32_t target = nfa_.targets_[nfa_.calls_[call].first_target + exit];
      if (target != kNone && distances[exit] < kFar) found.push_back({state, target, distances[exit]});
    }
  }
  budget_.spend(4 * static_cast<int64_t>(found.size()));
  return found;
}

// Bound the ways from each state of a rule with flags on which no flag is set and no state met twice.
void UpperBounds::find_longest_ways(int32_t rule, std::span<const Way> ways) {
  const int32_t begin = nfa_.starts_[rule], num_states = end_of(rule) - begin;
  const support::Groups leaving =
      support::grouped(num_states, ways.size(), [&](size_t way) { return ways[way].source - begin; }, budget_);
  const auto target_of = [&](int32_t at) { return ways[leaving.order[at]].target - begin; };
  const support::Groups components = support::components(leaving.offsets, target_of, budget_);
  Vector<int32_t> component_of(num_states, kNone, budget_);
  for (int32_t component = 0; component < components.num_keys(); ++component) {
    for (const int32_t state : components[component]) component_of[state] = component;
    int32_t inside = 0, after = 0;
    for (const int32_t state : components[component]) {
      int32_t most = 0;
      for (const int32_t way : leaving[state]) {
        const auto& [source, target, distance] = ways[way];
        const bool stays = component_of[target - begin] == component;
        if (stays) most = std::max(most, distance);
        if (!stays) after = std::max(after, sum(distance, longest_[target]));
      }
      inside = sum(inside, most);
    }
    for (const int32_t state : components[component]) longest_[begin + state] = sum(inside, after);
    budget_.spend(8 * static_cast<int64_t>(components[component].size()));
  }
}

// Raise the bounds of rules to those of their states inside chains, copies and counters.
void UpperBounds::find_longest_inside() {
  const auto raise = [&](int32_t target, int32_t most) {
    const auto rule = std::ranges::upper_bound(nfa_.starts_, target) - nfa_.starts_.begin() - 1;
    if (rule >= 0) bounds_[rule].within = std::max(bounds_[rule].within, sum(most, longest_[target]));
    budget_.spend(4);
  };
  for (size_t chain = 0; chain + 1 < nfa_.chains_.size(); ++chain) {
    raise(nfa_.chains_[chain].target, inside_.most_in_chain(chain));
  }
  for (const LazyNfa::Copy& copy : std::span(nfa_.copies_).first(nfa_.copies_.size() - 1)) {
    raise(copy.target, inside_.most_in_fragment(copy.fragment));
  }
  for (const LazyNfa::Counter& counter : nfa_.counters_) raise(counter.target, inside_.most_in_counter(counter));
}

// Sum up, for each flag of a rule, the longest way from an arc that sets it.
int32_t UpperBounds::sum_of_flags(int32_t rule) {
  if (nfa_.num_exits(rule) > 1) return kFar;
  Vector<int32_t> longest(budget_);
  for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
    for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
      if (arc.sets == kNone) continue;
      if (longest.size() <= static_cast<size_t>(arc.sets)) longest.resize(arc.sets + 1, 0);
      longest[arc.sets] = std::max(longest[arc.sets], longest_[arc.target]);
    }
  }
  int32_t found = 0;
  for (const int32_t own : longest) found = sum(found, own);
  return found;
}

void UpperBounds::find_beyond(int32_t longest_token) {
  Vector<Nested> calls(budget_);
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
      if (const int32_t call = nfa_.call_of(state); call != kNone) calls.push_back({rule, nfa_.rule_of(call)});
    }
    bounds_[rule].beyond = bounds_[rule].within;
  }
  std::ranges::sort(calls);
  const auto repeated = std::ranges::unique(calls);
  calls.erase(repeated.begin(), repeated.end());
  Vector<int32_t> before(bounds_.size(), 0, budget_);
  bool changed = true;
  for (int32_t bytes = 0; changed && bytes < longest_token; ++bytes) {
    for (size_t rule = 0; rule < bounds_.size(); ++rule) before[rule] = bounds_[rule].beyond;
    changed = false;
    for (const Nested& own : calls) {
      Bound& caller = bounds_[own.caller];
      const int32_t beyond = sum(caller.within, before[own.called]);
      changed = changed || beyond > caller.beyond;
      caller.beyond = std::max(caller.beyond, beyond);
    }
    budget_.spend(4 * static_cast<int64_t>(calls.size() + bounds_.size()));
  }
}

}  // namespace tokenfst
