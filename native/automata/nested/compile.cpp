#include "automata/nested/compile.h"

#include <utility>

#include "automata/nested/exits.h"

namespace automata {

namespace {

template <class Values>
auto exact(const Values& values) {
  return std::vector(values.begin(), values.end());
}

void write(const Places& places, PlaceSteps&& steps, NestedAutomaton& found, Budget& budget) {
  NestedHeadroom headroom = headrooms(places, steps, budget);
  headroom.of_state.push_back(0);
  found.num_states = static_cast<int32_t>(headroom.of_state.size());
  found.byte_class = steps.byte_class;
  found.step_offsets = std::move(steps.offsets);
  found.pops = std::move(steps.pops), found.pushes = std::move(steps.pushes);
  found.targets = std::move(steps.targets);
  budget.charge(sizeof(int32_t) * (headroom.of_state.size() + 3 * places.symbols.size()));
  found.symbols = exact(places.symbols);
  found.headroom = exact(headroom.of_state), found.symbol_headroom = exact(headroom.of_symbol);
}

}  // namespace

NestedAutomaton compile(const NestedLayout& layout, int64_t max_states, Budget& budget) {
  NestedAutomaton found;
  DeterministicRules rules = determinize(layout, max_states, budget);
  found.has_text = rules.has_text[0];
  if (!found.has_text) return found;
  Places places = places_of(rules, budget);
  found.wrong = places.wrong;
  if (found.wrong.fault != Fault::kNone) return found;
  if (some_unwanted(places, rules)) {
    DeterministicRules copies = by_exits(rules, max_states, budget);
    copies.interval_of = std::move(rules.interval_of);
    rules = std::move(copies);
    places = places_of(rules, budget);
  }
  write(places, steps_of(rules, places, budget), found, budget);
  return found;
}

}  // namespace automata
