// Bindings of token classes.
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/counted/counted_classes.h"
#include "tokenfst/token_classes.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;

TokenClasses make_classes(Values<int32_t> run_end, Values<int32_t> run_class, int32_t num_classes,
                          Values<int32_t> source, Values<int32_t> edge_class, Values<int32_t> target) {
  require(num_classes >= kFirstClass, "there are at least the classes of no token and of the end");
  require(source.size() == edge_class.size() && source.size() == target.size(),
          "an edge has a source, a class and a target");
  require_within(edge_class, 0, num_classes, "class");
  require_within(source, 0, INT32_MAX, "source");
  require_within(target, 0, INT32_MAX, "target");
  TokenClasses classes{runs_of(run_end, run_class, num_classes), num_classes, {}};
  for (size_t edge = 0; edge < source.size(); ++edge) {
    require(edge == 0 || edge_class[edge - 1] <= edge_class[edge], "edges are not in the order of their classes");
    classes.edges.push_back({source[edge], edge_class[edge], target[edge]});
  }
  return classes;
}

template <class Tables>
bool spells_all_of(const Tables& automaton, Values<bool> is_token_byte) {
  require(is_token_byte.size() == 256, "`is_token_byte` has a flag for each byte");
  return spells_all(automaton, is_token_byte);
}

}  // namespace

void bind_classes(nb::module_& m) {
  nb::class_<TokenClasses> classes(m, "TokenClasses", "The classes of a vocabulary under a byte automaton.");
  def_runs(classes, [](const TokenClasses& self) -> const auto& { return self.runs; })
      .def(nb::new_(&make_classes), "run_end"_a, "run_class"_a, "num_classes"_a, "source"_a, "edge_class"_a, "target"_a)
      .def_ro("num_classes", &TokenClasses::num_classes)
      .def_prop_ro(
          "source", [](const TokenClasses& c) { return array(column(c.edges, &TokenEdge::source)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "edge_class", [](const TokenClasses& c) { return array(column(c.edges, &TokenEdge::number)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "target", [](const TokenClasses& c) { return array(column(c.edges, &TokenEdge::target)); },
          nb::rv_policy::move);
  m.def(
      "token_classes",
      [](const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
        require(automaton.num_states() > 0, "the automaton has no state");
        return unlocked([&] { return token_classes(automaton, vocabulary, budget); });
      },
      "automaton"_a, "vocabulary"_a, "budget"_a, "Sort the tokens of a vocabulary into classes.");
  m.def(
      "relation_classes",
      [](const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
        require(automaton.is_sparse, "the automaton is not sparse");
        return unlocked([&] { return relation_classes(automaton, vocabulary, budget); });
      },
      "automaton"_a, "vocabulary"_a, "budget"_a,
      "Sort the tokens of a vocabulary into classes, by the method for sparse automata that are like long lists.");
  m.def(
      "is_list_like",
      [](const automata::ByteTables& automaton, const Vocabulary& vocabulary) {
        require(automaton.is_sparse, "the automaton is not sparse");
        return is_list_like(automaton, vocabulary);
      },
      "automaton"_a, "vocabulary"_a,
      "Return whether `relation_classes` is the better method: whether few states allow nearly every token.");
  const char* const doc = "Return whether every byte that an automaton reads is a token by itself.";
  m.def("spells_all", &spells_all_of<automata::ByteTables>, "automaton"_a, "is_token_byte"_a, doc);
  m.def("spells_all", &spells_all_of<automata::CountedTables>, "automaton"_a, "is_token_byte"_a, doc);
}

}  // namespace tokenfst
