#include "automata/visibly_pushdown/compile.h"

#include <utility>

#include "automata/visibly_pushdown/exits.h"

namespace automata {

namespace {

void write(const AssembledStates& states, AssembledSteps&& steps, VisiblyPushdownAutomaton& found, Budget& budget) {
  ExitHeadroom headroom = headrooms(states, steps, budget);
  headroom.of_state.push_back(0);
  found.num_states = static_cast<int32_t>(headroom.of_state.size());
  found.byte_class = steps.byte_class;
  found.step_offsets = std::move(steps.offsets);
  found.pops = std::move(steps.pops), found.pushes = std::move(steps.pushes);
  found.targets = std::move(steps.targets);
  found.symbols = support::charged_copy(states.symbols, budget);
  found.headroom = support::charged_copy(headroom.of_state, budget),
  found.symbol_headroom = support::charged_copy(headroom.of_symbol, budget);
}

}  // namespace

VisiblyPushdownAutomaton compile(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget) {
  VisiblyPushdownAutomaton found;
  DeterministicRules rules = determinize(layout, max_states, budget);
  found.has_text = rules.has_text[0];
  if (!found.has_text) return found;
  AssembledStates states = assembled_states(rules, budget);
  found.fault = states.fault;
  if (found.fault.kind != FaultKind::kNone) return found;
  if (some_unwanted(states, rules)) {
    DeterministicRules copies = by_exits(rules, max_states, budget);
    copies.interval_of = std::move(rules.interval_of);
    rules = std::move(copies);
    states = assembled_states(rules, budget);
  }
  write(states, assembled_steps(rules, states, budget), found, budget);
  return found;
}

}  // namespace automata
