// Bindings of token classes for byte automata with a register.
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/counted/counted_classes.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;

CountedClasses classes_of(const automata::CountedTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  require(automaton.num_states() > 0, "the automaton has no state");
  return unlocked([&] { return counted_classes(automaton, vocabulary, budget); });
}

// Require edges in order of class, source and register value, with guards that do not overlap.
void require_in_order(std::span<const CountedEdge> edges, int32_t num_classes) {
  require_countable(edges.size(), "edges");
  std::array<int32_t, 3> before{};  // class, source and greatest value
  for (const auto& [number, edge] : edges) {
    require_within(number, kFirstClass, num_classes, "class");
    require_within(edge.source, 0, INT32_MAX, "source");
    require_within(edge.target, 0, INT32_MAX, "target");
    require(0 <= edge.low && edge.low <= edge.high, "a guard is out of order");
    require(before < std::array{number, edge.source, edge.low}, "edges are not in order and apart");
    before = {number, edge.source, edge.high};
  }
}

CountedClasses make_classes(Values<int32_t> run_end, Values<int32_t> run_class, int32_t num_classes,
                            Records<CountedEdge> edges) {
  require(num_classes >= kFirstClass, "there are at least the classes of no token and of the end");
  CountedClasses classes{runs_of(run_end, run_class, num_classes), num_classes, {}};
  require_in_order(edges, num_classes);
  classes.edges.assign(edges.begin(), edges.end());
  return classes;
}

}  // namespace

void bind_counted(nb::module_& m) {
  nb::class_<CountedClasses> classes(m, "CountedClasses",
                                     "The classes of a vocabulary under a byte automaton with a register.");
  def_runs(classes, [](const CountedClasses& self) -> const auto& { return self.runs; })
      .def(nb::new_(&make_classes), "run_end"_a, "run_class"_a, "num_classes"_a, "edges"_a)
      .def_ro("num_classes", &CountedClasses::num_classes)
      .def_prop_ro("edges", &shown<&CountedClasses::edges>,
                   "Class, source, least and greatest register value, target and action of each edge, `[E, 6]`.");
  m.def("counted_classes", &classes_of, "automaton"_a, "vocabulary"_a, "budget"_a,
        "Sort the tokens of a vocabulary into classes.");
}

}  // namespace tokenfst
