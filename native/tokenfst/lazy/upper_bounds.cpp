#include "tokenfst/lazy/upper_bounds.h"

#include <algorithm>
#include <ranges>

namespace tokenfst {

namespace {

using automata::kNone;

// Return the largest of some distances that is not far.
int32_t largest(std::span<const int32_t> distances) {
  int32_t most = 0;
  for (const int32_t distance : distances) most = std::max(most, distance < kFar ? distance : 0);
  return most;
}

}  // namespace

UpperBounds::UpperBounds(const LazyNfa& nfa, ExitDistances& exits, int32_t longest_token, Budget& budget)
    : nfa_(nfa),
      exits_(exits),
      inside_(exits.inside()),
      budget_(budget),
      of_outer_(nfa.num_outer(), 0, budget),
      beyond_(nfa.starts().size(), kFar, budget) {
  if (!nfa_.detours_.empty()) return;
  for (int32_t rule = 0; rule < num_rules(); ++rule) find_states(rule);
  find_insides();
  find_beyond(longest_token);
}

int32_t UpperBounds::of_state(int32_t state) const {
  if (state < nfa_.num_outer()) return of_outer_[state];
  const InsideDistances::Rest rest = inside_.rest_of(state);
  return sum(rest.more, of_outer_[rest.state]);
}

// Find the bounds of the outer states of a rule, and the largest of them.
void UpperBounds::find_states(int32_t rule) {
  const int32_t begin = nfa_.starts_[rule], end = end_of(rule);
  if (has_flags(rule)) {
    bound_paths(rule);
    const int32_t more = sum_of_flags(rule);
    for (int32_t state = begin; state < end; ++state) of_outer_[state] = sum(of_outer_[state], more);
  } else {
    for (int32_t state = begin; state < end; ++state) of_outer_[state] = largest(exits_.to_exit(state).row);
  }
  beyond_[rule] = std::ranges::max(std::span(of_outer_).subspan(begin, end - begin));
  budget_.spend(4 * (end - begin));
}

bool UpperBounds::has_flags(int32_t rule) const {
  return !nfa_.guarded_.empty() && nfa_.guarded_offsets_[nfa_.starts_[rule]] != nfa_.guarded_offsets_[end_of(rule)];
}

// List the edges between the outer states of a rule that set no flag.
Vector<WeightedEdge> UpperBounds::edges_of(int32_t rule) {
  Vector<WeightedEdge> found(budget_);
  for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
    inside_.each_successor(state,
                           [&](int32_t distance, int32_t target) { found.push_back({state, target, distance}); });
    for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
      if (arc.sets == kNone) found.push_back({state, arc.target, 0});
    }
    const int32_t call = nfa_.call_of(state);
    if (call == kNone) continue;
    const int32_t called = nfa_.rule_of(call);
    for (int32_t exit = 0; exit < nfa_.num_exits(called); ++exit) {
      const int32_t target = nfa_.targets_[nfa_.calls_[call].first_target + exit];
      const int32_t distance = exits_.through(called, exit);
      if (target != kNone && distance < kFar) found.push_back({state, target, distance});
    }
  }
  budget_.spend(4 * static_cast<int64_t>(found.size()));
  return found;
}

// Bound the paths from each state of a rule with flags to its exits and to arcs that set a flag.
void UpperBounds::bound_paths(int32_t rule) {
  const int32_t begin = nfa_.starts_[rule];
  Vector<WeightedEdge> edges = edges_of(rule);
  for (WeightedEdge& edge : edges) edge = {edge.source - begin, edge.target - begin, edge.distance};
  Vector<int32_t> longest(end_of(rule) - begin, kNoPath, budget_);
  for (int32_t state = begin; state < end_of(rule); ++state) {
    const auto sets = [](const automata::GuardedArc& arc) { return arc.sets != kNone; };
    if (nfa_.exit_of(state) != kNone || std::ranges::any_of(nfa_.guarded_arcs(state), sets)) longest[state - begin] = 0;
  }
  find_longest_paths(edges, longest, budget_);
  for (int32_t state = begin; state < end_of(rule); ++state) of_outer_[state] = std::max(longest[state - begin], 0);
}

// Raise the bounds of rules to those of their states inside chains, copies and counters.
void UpperBounds::find_insides() {
  const auto raise = [&](int32_t target, int32_t most) {
    const auto rule = std::ranges::upper_bound(nfa_.starts_, target) - nfa_.starts_.begin() - 1;
    if (rule >= 0) beyond_[rule] = std::max(beyond_[rule], sum(most, of_outer_[target]));
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

// Sum up, for each flag of a rule, the longest path from an arc that sets it.
int32_t UpperBounds::sum_of_flags(int32_t rule) {
  if (nfa_.num_exits(rule) > 1) return kFar;
  Vector<int32_t> longest(budget_);
  for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
    for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
      if (arc.sets == kNone) continue;
      if (longest.size() <= static_cast<size_t>(arc.sets)) longest.resize(arc.sets + 1, 0);
      longest[arc.sets] = std::max(longest[arc.sets], of_outer_[arc.target]);
    }
  }
  int32_t found = 0;
  for (const int32_t own : longest) found = sum(found, own);
  return found;
}

// List the calls of rules by others, each with the largest bound of the states after it.
Vector<UpperBounds::Nested> UpperBounds::nested_calls() {
  Vector<Nested> found(budget_);
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    for (int32_t state = nfa_.starts_[rule]; state < end_of(rule); ++state) {
      const int32_t call = nfa_.call_of(state);
      if (call != kNone) found.push_back({rule, nfa_.rule_of(call), after_call(state)});
    }
    budget_.spend(end_of(rule) - nfa_.starts_[rule]);
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

int32_t UpperBounds::after_call(int32_t state) const {
  const int32_t call = nfa_.call_of(state);
  int32_t most = 0;
  for (int32_t exit = 0; exit < nfa_.num_exits(nfa_.rule_of(call)); ++exit) {
    const int32_t target = nfa_.targets_[nfa_.calls_[call].first_target + exit];
    if (target != kNone) most = std::max(most, of_state(target));
  }
  return most;
}

// Return whether a rule may call another before anything is read.
bool UpperBounds::calls_early(int32_t rule) {
  const int32_t begin = nfa_.starts_[rule], end = end_of(rule);
  const auto calls = [&](int32_t state) { return nfa_.call_of(state) != kNone; };
  const auto states = std::views::iota(begin, end);
  if (std::ranges::none_of(states, calls)) return false;
  Vector<WeightedEdge> edges = edges_of(rule);
  for (int32_t state = begin; state < end; ++state) {
    for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) edges.push_back({state, arc.target, 0});
  }
  Vector<uint8_t> is_early(end - begin, false, budget_);
  is_early[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [source, target, distance] : edges) {
      if (distance > 0 || !is_early[source - begin] || is_early[target - begin]) continue;
      is_early[target - begin] = changed = true;
    }
    budget_.spend(static_cast<int64_t>(edges.size()));
  }
  return std::ranges::any_of(states, [&](int32_t state) { return is_early[state - begin] && calls(state); });
}

// Each byte of a token may begin one call, and those that begin with it, of different rules.
void UpperBounds::find_beyond(int32_t longest_token) {
  const Vector<Nested> calls = nested_calls();
  const auto num_early =
      std::ranges::count_if(std::views::iota(0, num_rules()), [&](int32_t rule) { return calls_early(rule); });
  bool changed = true;
  for (int64_t left = longest_token * (1 + num_early); changed && left > 0; --left) {
    const Vector<int32_t> before = beyond_;
    changed = false;
    for (const Nested& own : calls) {
      const int32_t beyond = sum(own.after, before[own.called]);
      changed = changed || beyond > beyond_[own.caller];
      beyond_[own.caller] = std::max(beyond_[own.caller], beyond);
    }
    budget_.spend(4 * static_cast<int64_t>(calls.size()) + num_rules());
  }
}

}  // namespace tokenfst
