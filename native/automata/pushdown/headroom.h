// Headroom: how much stack the rest of a text needs.
//
//     headroom of a state     the least number of symbols above the current top with which the open rules can be ended:
//                             those of the state, and of its local stacks
//     headroom of a symbol    the same, after the symbol has been popped
//
// A configuration is safe under a depth limit D if its height plus the headroom of its state is at most D, and if, for
// each of its symbols, the height below the symbol plus the headroom of the symbol is at most D. From a safe
// configuration there is a step to a safe one that is nearer to the end of the text: some element of the state has a
// derivation that stays within D, and the automaton never has more on its stack than this derivation has pushed. It may
// have less, so a configuration that is not safe may still have a text that stays within D.
//
// With words this is not certain: the longest match may rule out the derivation that needs least, and then a text that
// stays below D may need more than its headroom.
//
// The headroom of a state of a network is the least, over its paths to an end of its rule, of the greatest, over the
// calls on the path, of what the call pushes plus the headroom of the start of the called rule, and of the headroom of
// the state that the call returns to: a shortest-path problem with two premises at calls (Knuth, "A generalization of
// Dijkstra's algorithm", Information Processing Letters 6, 1977). The numbers grow by at most one from one step to the
// next, so two lists replace the heap.
#pragma once

#include "automata/distance.h"

namespace automata {

struct PushingCall {
  int32_t source, begin, back;  // a call at `source` of a rule that begins at `begin` returns to `back`
  int32_t pushed;               // how many symbols it pushes, 0 or 1
};

// Return the headroom of each state, kNone if no end can be reached. Edges are records with a source and a target.
template <class Edges, class States>
Vector<int32_t> headrooms(int32_t num_states, const Edges& edges, std::span<const PushingCall> calls,
                          const States& ends, Budget& budget) {
  const support::Groups before = entering(num_states, edges, budget);
  const support::Groups beginning =
      support::grouped(num_states, calls.size(), [&](size_t c) { return calls[c].begin; }, budget);
  const support::Groups returning =
      support::grouped(num_states, calls.size(), [&](size_t c) { return calls[c].back; }, budget);
  Vector<int32_t> room(num_states, kNone, budget), now(budget), later(budget);
  for (int32_t state : ends) now.push_back(state);
  for (int32_t height = 0; !now.empty(); ++height) {
    const auto look = [&](const PushingCall& call) {
      if (room[call.begin] == kNone || room[call.back] == kNone) return;
      (room[call.begin] + call.pushed > height ? later : now).push_back(call.source);
    };
    while (!now.empty()) {
      const int32_t state = now.back();
      now.pop_back();
      if (room[state] != kNone) continue;
      room[state] = height;
      for (int32_t edge : before[state]) now.push_back(edges[edge].source);
      for (int32_t call : beginning[state]) look(calls[call]);
      for (int32_t call : returning[state]) look(calls[call]);
      budget.spend(4 + static_cast<int64_t>(before[state].size() + beginning[state].size() + returning[state].size()));
    }
    std::swap(now, later);
  }
  return room;
}

}  // namespace automata
