#include "automata/nested/compile.h"

#include <utility>

#include "automata/nested/exits.h"

namespace automata {

namespace {

template <class Values>
auto exact(const Values& values) {
  return std::vector(values.begin(), values.end());
}

void write(const Places& places, const PlaceSteps& steps, NestedAutomaton& found, Budget& budget) {
  NestedHeadroom headroom = headrooms(places, steps, budget);
  headroom.of_state.push_back(0);
  budget.charge(sizeof(int32_t) *
                (steps.offsets.size() + 3 * steps.steps.size() + headroom.of_state.size() + 3 * places.symbols.size()));
  found.num_states = static_cast<int32_t>(headroom.of_state.size());
  found.byte_class = steps.byte_class;
  found.step_offsets = exact(steps.offsets);
  for (auto* column : {&found.pops, &found.pushes, &found.targets}) column->reserve(steps.steps.size());
  for (const PlaceStep& step : steps.steps) {
    found.pops.push_back(step.pops);
    found.pushes.push_back(step.pushes);
    found.targets.push_back(step.target);
  }
  found.symbols = exact(places.symbols);
  found.headroom = exact(headroom.of_state), found.symbol_headroom = exact(headroom.of_symbol);
}

}  // namespace

NestedAutomaton compile(const NestedLayout& layout, int64_t max_states, Budget& budget) {
  NestedAutomaton found;
  DeterministicRules rules = determinize(layout, max_states, budget);
  found.has_text = rules.has_text[0];
  if (!found.has_text) return found;
  ArcRows rows = arc_rows(rules.automaton.num_states(), rules.automaton.arcs, budget);
  Places places = places_of(rules.start, rows, rules.symbols, budget);
  found.wrong = places.wrong;
  if (found.wrong.fault != Fault::kNone) return found;
  if (some_unwanted(places, rules)) {
    DeterministicRules copies = by_exits(rules, max_states, budget);
    rules.automaton = std::move(copies.automaton), rules.symbols = std::move(copies.symbols);
    rows = arc_rows(rules.automaton.num_states(), rules.automaton.arcs, budget);
    places = places_of(copies.start, rows, rules.symbols, budget);
  }
  write(places, steps_of(rows, places, rules.symbols, rules.interval_of, budget), found, budget);
  return found;
}

}  // namespace automata
