// Bindings of algorithms on plain transitions: distances, orders, components, minimization, and OpenFst's binary form.
#include <nanobind/stl/tuple.h>

#include "automata/bindings.h"
#include "automata/determinize.h"
#include "automata/distance.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "automata/vector_fst.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "support/components.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Edges given as two arrays.
struct EdgeColumns {
  std::span<const int32_t> source, target;
  size_t size() const { return source.size(); }
  Edge operator[](size_t edge) const { return {source[edge], target[edge]}; }
};

EdgeColumns edges_of(Values<int32_t> source, Values<int32_t> target, size_t num_states) {
  require(source.size() == target.size(), "an edge has a source and a target");
  require_countable(source.size(), "edges");
  require_countable(num_states, "states");
  require_within(source, 0, static_cast<int64_t>(num_states), "source");
  require_within(target, 0, static_cast<int64_t>(num_states), "target");
  return {source, target};
}

auto distances_of(Values<int32_t> source, Values<int32_t> target, Values<bool> goal, Budget& budget) {
  const EdgeColumns edges = edges_of(source, target, goal.size());
  const auto num_states = static_cast<int32_t>(goal.size());
  const auto goals = std::views::iota(0, num_states) | std::views::filter([&](int32_t state) { return goal[state]; });
  const Vector<int32_t> found = unlocked([&] { return distances(num_states, edges, goals, budget); });
  return array_of(found);
}

auto bottom_up_of(int32_t num_states, Values<int32_t> source, Values<int32_t> target, Budget& budget) {
  require(num_states >= 0, "there are no negative numbers of states");
  const EdgeColumns edges = edges_of(source, target, num_states);
  const auto all =
      std::views::iota(size_t{0}, edges.size()) | std::views::transform([&](size_t edge) { return edges[edge]; });
  const Vector<int32_t> found = unlocked([&] { return bottom_up(num_states, all, budget); });
  return array_of(found);
}

auto components_of(Values<int32_t> offsets, Values<int32_t> targets, Budget& budget) {
  require(offsets.size() > 0, "offsets of no nodes are [0]");
  const auto num_nodes = static_cast<int64_t>(offsets.size()) - 1;
  require_countable(offsets.size(), "nodes");
  require_offsets(offsets, num_nodes, targets.size(), "successors");
  require_within(targets, 0, num_nodes, "successor");
  const support::Groups found = unlocked([&] {
    return support::components({offsets.data(), offsets.size()}, [&](int32_t edge) { return targets[edge]; }, budget);
  });
  return std::make_tuple(array_of(found.offsets), array_of(found.order));
}

auto minimal_over_symbols(int32_t num_states, int32_t num_symbols, Records<Arc> arcs, Records<Edge> epsilon,
                          int64_t max_states, Budget& budget) {
  require(num_states >= 2 && num_symbols >= 0, "an automaton has a start and an end");
  require_countable(arcs.size() + epsilon.size(), "arcs");
  for (const Arc& arc : arcs) {
    require_within(std::array{arc.source, arc.target}, 0, num_states, "state");
    require_within(arc.symbol, 0, num_symbols, "symbol");
  }
  for (const Edge& edge : epsilon) require_within(std::array{edge.source, edge.target}, 0, num_states, "state");
  const Minimal found = unlocked(
      [&] { return minimize(determinize({num_states, num_symbols, arcs, epsilon, 1}, max_states, budget), budget); });
  return std::make_tuple(found.start, flags(found.automaton.final), records(found.automaton.arcs));
}

auto fst_words(Values<bool> final, Records<FstArc> arcs) {
  for (const FstArc& arc : arcs) {
    require_within(std::array{arc.source, arc.target}, 0, static_cast<int64_t>(final.size()), "state");
    require_within(std::array{arc.input, arc.output}, kNone, (int64_t{1} << 31) - 1, "symbol");
  }
  return array(vector_fst_words({reinterpret_cast<const uint8_t*>(final.data()), final.size()}, arcs));
}

}  // namespace

void bind_graphs(nb::module_& m) {
  m.def("distances", &distances_of, "source"_a, "target"_a, "goal"_a, "budget"_a,
        "Return the least number of edges from each state to a goal, `[Q]`; -1 if none can be reached.");
  m.def("bottom_up", &bottom_up_of, "num_states"_a, "source"_a, "target"_a, "budget"_a,
        "Return the states from which no cycle can be reached, each after all states that it has edges to.");
  m.def("components", &components_of, "offsets"_a, "targets"_a, "budget"_a,
        "Return the strongly connected components of a graph, each after those that it leads to: where each begins, "
        "`[C + 1]`, and their nodes, `[N]`. The successors of a node begin at its offset.");
  m.def("minimal_over_symbols", &minimal_over_symbols, "num_states"_a, "num_symbols"_a, "arcs"_a, "epsilon"_a,
        "max_states"_a, "budget"_a,
        "Return the start (-1 if nothing is accepted), the final flags and the arcs of the minimal automaton of an NFA "
        "from state 0 to state 1.");
  m.def("vector_fst_words", &fst_words, "final"_a, "arcs"_a,
        "Return the body of OpenFst's binary form of a `vector` automaton, as 4-byte words.");
}

}  // namespace automata
