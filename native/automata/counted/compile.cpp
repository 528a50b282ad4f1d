#include "automata/counted/compile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "automata/counted/register_distance.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "support/interner.h"

namespace automata {

namespace {

// Restrict arcs to the register values from which an end can be reached. Return false if there are very many parts.
bool trim(CountedTransitions& automaton, int32_t max_register, Budget& budget) {
  const auto num_states = static_cast<int32_t>(automaton.final_from.size());
  Vector<GuardedEdge> edges(budget);
  edges.reserve(automaton.arcs.size());
  for (const auto& arc : automaton.arcs) edges.push_back({arc.source, arc.low, arc.high, arc.target, arc.action});
  Vector<StateValues> goals(budget);
  for (int32_t state = 0; state < num_states; ++state) {
    if (automaton.final_from[state] != kNone) goals.push_back({state, automaton.final_from[state], max_register});
  }
  const auto pieces = pieces_by_distance(num_states, max_register, edges, goals, kMaxPieces, budget);
  if (!pieces) return false;
  const auto parts = live_parts(num_states, edges, joined(*pieces, budget), 10 * edges.size() + 1000, budget);
  if (!parts) return false;
  Vector<GuardedTransition> trimmed(budget);
  trimmed.reserve(parts->size());
  for (const EdgePart& part : *parts) {
    GuardedTransition arc = automaton.arcs[part.edge];
    arc.low = part.low, arc.high = part.high;
    trimmed.push_back(arc);
  }
  automaton.arcs = std::move(trimmed);
  return true;
}

// Sort arcs by source and symbol, and join neighbouring guards with the same outcome.
void merge_guards(Vector<GuardedTransition>& arcs, Budget& budget) {
  std::ranges::sort(arcs, {}, [](const auto& arc) { return std::tuple(arc.source, arc.symbol, arc.low); });
  budget.spend(16 * static_cast<int64_t>(arcs.size()));
  size_t kept = 0;
  for (const GuardedTransition& arc : arcs) {
    GuardedTransition* before = kept ? &arcs[kept - 1] : nullptr;
    if (before && before->source == arc.source && before->symbol == arc.symbol && before->target == arc.target &&
        before->action == arc.action && before->high + 1 == arc.low) {
      before->high = arc.high;
    } else {
      arcs[kept++] = arc;
    }
  }
  arcs.erase(arcs.begin() + kept, arcs.end());
}

// A symbol for minimization. Ending is a symbol too: without bytes, with its least value.
struct Label {
  int32_t interval, low, high, action;
  auto operator<=>(const Label&) const = default;
};

// The minimal automaton, without the extra final state.
struct MinimalCounted {
  int32_t start = kNone;
  CountedTransitions automaton;
};

// Sorted labels without duplicates, and the arcs over their numbers; the final state is one extra state.
struct Labelled {
  Vector<Label> labels;
  Transitions arcs;
};

Labelled labelled(const CountedTransitions& automaton, Budget& budget) {
  const auto end = static_cast<int32_t>(automaton.final_from.size());
  Labelled found{Vector<Label>(budget), Transitions(budget)};
  const auto label_of = [](const GuardedTransition& arc) { return Label{arc.symbol, arc.low, arc.high, arc.action}; };
  const auto end_label = [](int32_t least) { return Label{kNone, least, 0, 0}; };
  for (const auto& arc : automaton.arcs) found.labels.push_back(label_of(arc));
  for (int32_t least : automaton.final_from) {
    if (least != kNone) found.labels.push_back(end_label(least));
  }
  std::ranges::sort(found.labels);
  found.labels.erase(std::unique(found.labels.begin(), found.labels.end()), found.labels.end());
  budget.spend(32 * static_cast<int64_t>(automaton.arcs.size()));
  const auto number = [&](const Label& label) {
    return static_cast<int32_t>(std::ranges::lower_bound(found.labels, label) - found.labels.begin());
  };
  found.arcs.final.assign(end + 1, false);
  found.arcs.final[end] = true;
  for (const auto& arc : automaton.arcs) {
    found.arcs.arcs.push_back({arc.source, number(label_of(arc)), arc.target});
  }
  for (int32_t state = 0; state < end; ++state) {
    const int32_t least = automaton.final_from[state];
    if (least != kNone) found.arcs.arcs.push_back({state, number(end_label(least)), end});
  }
  return found;
}

MinimalCounted minimized(CountedTransitions&& automaton, Budget& budget) {
  MinimalCounted found{kNone, {Vector<int32_t>(budget), Vector<GuardedTransition>(budget)}};
  const Labelled written = labelled(automaton, budget);
  Vector<GuardedTransition>(budget).swap(automaton.arcs);
  const Minimal minimal = minimize(written.arcs, budget);
  if (minimal.start == kNone) return found;
  // States are renumbered without the extra one.
  Vector<int32_t> number(budget);
  int32_t count = 0;
  for (uint8_t is_end : minimal.automaton.final) number.push_back(is_end ? kNone : count++);
  found.start = number[minimal.start];
  found.automaton.final_from.assign(count, kNone);
  for (const Arc& arc : minimal.automaton.arcs) {
    const Label& label = written.labels[arc.symbol];
    const int32_t source = number[arc.source];
    if (label.interval == kNone) {
      found.automaton.final_from[source] = label.low;
    } else {
      found.automaton.arcs.push_back({source, label.interval, label.low, label.high, number[arc.target], label.action});
    }
  }
  return found;
}

// Replace the intervals of arcs by their classes, keeping the arcs of each class once; return the class of each
// interval.
Vector<int32_t> classify(Vector<GuardedTransition>& arcs, int32_t num_intervals, Budget& budget) {
  std::ranges::sort(arcs, {}, [](const auto& arc) { return std::tuple(arc.symbol, arc.source, arc.low); });
  support::Interner<GuardedTransition> classes(budget);
  Vector<int32_t> class_of(budget);
  Vector<GuardedTransition> kept(budget);
  auto arc = arcs.begin();
  for (int32_t interval = 0; interval < num_intervals; ++interval) {
    const auto begin = arc;
    for (; arc != arcs.end() && arc->symbol == interval; ++arc) {
      classes.push({arc->source, 0, arc->low, arc->high, arc->target, arc->action});
    }
    const auto [number, is_new] = classes.close();
    class_of.push_back(number);
    for (auto own = begin; is_new && own != arc; ++own) {
      kept.push_back(*own);
      kept.back().symbol = number;
    }
  }
  budget.spend(16 * static_cast<int64_t>(arcs.size()));
  arcs = std::move(kept);
  return class_of;
}

CountedTables tables_of(MinimalCounted&& minimal, std::span<const int32_t> interval_of, int32_t max_register,
                        Budget& budget) {
  CountedTables found;
  auto& [final_from, arcs] = minimal.automaton;
  if (minimal.start == kNone) {
    found.num_classes = 1;
    found.offsets.push_back(0);
    return found;
  }
  const Vector<int32_t> class_of = classify(arcs, interval_of[255] + 1, budget);
  found.start = minimal.start, found.max_register = max_register;
  found.num_classes = *std::ranges::max_element(class_of) + 1;
  for (int32_t byte = 0; byte < 256; ++byte) {
    found.byte_class[byte] = static_cast<uint8_t>(class_of[interval_of[byte]]);
  }
  std::ranges::sort(arcs, {}, [](const auto& arc) { return std::tuple(arc.source, arc.symbol, arc.low); });
  const size_t num_cells = final_from.size() * found.num_classes;
  budget.charge(sizeof(int32_t) * (num_cells + final_from.size()) + sizeof(CountedArc) * arcs.size());
  found.final_from.assign(final_from.begin(), final_from.end());
  found.offsets.assign(num_cells + 1, 0);
  for (const auto& arc : arcs) {
    ++found.offsets[static_cast<size_t>(arc.source) * found.num_classes + arc.symbol + 1];
    found.guarded_arcs.push_back({arc.low, arc.high, arc.target, arc.action});
  }
  for (size_t cell = 0; cell < num_cells; ++cell) found.offsets[cell + 1] += found.offsets[cell];
  budget.spend(static_cast<int64_t>(num_cells + 16 * arcs.size()));
  return found;
}

}  // namespace

CountedAutomaton compile(const CountedLayout& layout, int64_t max_states, int64_t max_bytes, Budget& budget) {
  Intervals over = over_intervals(layout.ranges, 0, budget);
  const MarkedNfa nfa{over.num_symbols(), over.arcs, layout.epsilon, layout.loop_of, layout.loops};
  CountedSubsets found = counted_subsets(nfa, max_states, max_bytes, budget);
  Vector<Arc>(budget).swap(over.arcs);
  if (!found.automaton) return {std::nullopt, found.clash};
  if (layout.is_product && !trim(*found.automaton, layout.max_register, budget)) return {};
  merge_guards(found.automaton->arcs, budget);
  return {tables_of(minimized(std::move(*found.automaton), budget), over.of, layout.max_register, budget),
          std::nullopt};
}

}  // namespace automata
