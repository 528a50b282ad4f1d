// Finds which exits of rules are productive, and which states are coaccessible, in automata that call each other.
//
//     Edge        an arc of any kind from one state of a rule to another
//     RuleEnd     a state where a rule ends, and in which of its exits; exits are numbered across all rules
//     Return      where the text continues after a rule was read at `source` and ended in an exit
//
// An exit is productive if some text leads from the start of its rule to an end with this exit; a state is coaccessible
// if some text leads from there to an end of its rule. Both are least sets of facts, each of which follows from one
// other fact or from two (Horn clauses):
//
//     productive      a target is reached if its source is and, for a return, if its exit is productive; an exit is
//                     productive if one of its ends is reached
//     coaccessible    a source is coaccessible if its target is and, for a return, if its exit is productive
//
// Finding them takes the time of reading the clauses twice (Dowling & Gallier, "Linear-time algorithms for testing the
// satisfiability of propositional Horn formulae", J. Logic Programming 1, 1984).
//
// A graph is any range of records read by index, so the records it is made from need not be copied.
#pragma once

#include <cstdint>
#include <span>

#include "automata/arcs.h"
#include "support/csr.h"

namespace automata {

struct RuleEnd {
  int32_t state, exit;
};

struct Return {
  int32_t source, exit, target;
};

// The edges of one range followed by those of another.
template <class First, class Second>
class EdgesOfBoth {
 public:
  EdgesOfBoth(const First& first, const Second& second) : first_(first), second_(second) {}
  size_t size() const { return first_.size() + second_.size(); }
  Edge operator[](size_t at) const {
    if (at < first_.size()) return {first_[at].source, first_[at].target};
    const auto& edge = second_[at - first_.size()];
    return {edge.source, edge.target};
  }

 private:
  const First& first_;
  const Second& second_;
};

// A fact that follows from two others.
struct FromTwo {
  int32_t left, right, target;
};

// Return the facts that follow from those given: the target of an edge follows from its source, and that of a FromTwo
// from both its sides. `edge(e)` and `from_two(t)` return the clauses by number.
template <class EdgeOf, class FromTwoOf, class Facts>
Vector<uint8_t> least_fixpoint(int32_t num_facts, size_t num_edges, EdgeOf edge, size_t num_from_two,
                               FromTwoOf from_two, const Facts& given, Budget& budget) {
  const support::Groups edges =
      support::grouped(num_facts, num_edges, [&](size_t e) { return edge(e).source; }, budget);
  const support::Groups lefts =
      support::grouped(num_facts, num_from_two, [&](size_t t) { return from_two(t).left; }, budget);
  const support::Groups rights =
      support::grouped(num_facts, num_from_two, [&](size_t t) { return from_two(t).right; }, budget);
  Vector<uint8_t> holds(num_facts, false, budget);
  Vector<int32_t> waiting(budget);
  const auto conclude = [&](int32_t fact) {
    if (holds[fact]) return;
    holds[fact] = true;
    waiting.push_back(fact);
  };
  for (int32_t fact : given) conclude(fact);
  while (!waiting.empty()) {
    const int32_t fact = waiting.back();
    waiting.pop_back();
    budget.spend(1 + static_cast<int64_t>(edges[fact].size() + lefts[fact].size() + rights[fact].size()));
    for (int32_t e : edges[fact]) conclude(edge(e).target);
    for (int32_t t : lefts[fact]) {
      if (holds[from_two(t).right]) conclude(from_two(t).target);
    }
    for (int32_t t : rights[fact]) {
      if (holds[from_two(t).left]) conclude(from_two(t).target);
    }
  }
  return holds;
}

// Rules that call each other, with states and exits numbered across all rules.
template <class Edges>
struct RuleGraph {
  int32_t num_states, num_exits;
  const Edges& edges;  // records with a source and a target
  std::span<const Return> returns;
  std::span<const RuleEnd> ends;
};

// Return whether each exit is productive, `[X]`, if rules begin in the states `starts`.
template <class Edges, class States>
Vector<uint8_t> productive_exits(const RuleGraph<Edges>& graph, const States& starts, Budget& budget) {
  // The facts are the states, followed by the exits.
  const size_t num_edges = graph.edges.size();
  const auto edge = [&](size_t e) -> Edge {
    if (e < num_edges) return {graph.edges[e].source, graph.edges[e].target};
    const RuleEnd& end = graph.ends[e - num_edges];
    return {end.state, graph.num_states + end.exit};
  };
  const auto from_two = [&](size_t t) -> FromTwo {
    const Return& call = graph.returns[t];
    return {call.source, graph.num_states + call.exit, call.target};
  };
  Vector<uint8_t> holds = least_fixpoint(graph.num_states + graph.num_exits, num_edges + graph.ends.size(), edge,
                                         graph.returns.size(), from_two, starts, budget);
  holds.erase(holds.begin(), holds.begin() + graph.num_states);
  return holds;
}

// Return whether each state is coaccessible, `[N]`, given which exits are productive.
template <class Edges>
Vector<uint8_t> coaccessible(const RuleGraph<Edges>& graph, std::span<const uint8_t> is_productive, Budget& budget) {
  const auto edge = [&](size_t e) -> Edge { return {graph.edges[e].target, graph.edges[e].source}; };
  const auto from_two = [&](size_t t) -> FromTwo {
    const Return& call = graph.returns[t];
    return {call.target, graph.num_states + call.exit, call.source};
  };
  Vector<int32_t> given(budget);
  for (const RuleEnd& end : graph.ends) given.push_back(end.state);
  for (int32_t exit = 0; exit < graph.num_exits; ++exit) {
    if (is_productive[exit]) given.push_back(graph.num_states + exit);
  }
  Vector<uint8_t> holds = least_fixpoint(graph.num_states + graph.num_exits, graph.edges.size(), edge,
                                         graph.returns.size(), from_two, given, budget);
  holds.resize(graph.num_states);
  return holds;
}

}  // namespace automata
