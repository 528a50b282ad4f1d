#include "tokenfst/pushdown/token_effects.h"

#include "tokenfst/pushdown/stack_effects.h"
#include "tokenfst/walk.h"

namespace tokenfst {

namespace {

std::vector<int32_t> column_trees_of(TreeTargets& trees, const automata::PushdownTables& automaton, Budget& budget) {
  const int32_t width = automaton.num_columns() - automaton.num_classes;
  budget.charge(4 * static_cast<size_t>(automaton.num_states) * width);
  std::vector<int32_t> found;
  found.reserve(static_cast<size_t>(automaton.num_states) * width);
  for (int32_t state = 0; state < automaton.num_states; ++state) {
    for (int32_t column = automaton.num_classes; column < automaton.num_columns(); ++column) {
      found.push_back(trees.after(state, column));
    }
    budget.spend(width);
  }
  return found;
}

}  // namespace

TokenEffects token_effects(const automata::PushdownTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  TreeTargets trees(automaton, budget);
  StackEffects effects(trees, automaton.num_states, automaton.num_classes, budget);
  const Classes classes = walk(vocabulary, automaton.byte_class, effects, budget);
  auto columns = column_trees_of(trees, automaton, budget);
  const auto pairs = [&](int32_t effect) { return effects.pairs(effect); };
  const auto entry = [](int32_t number, const Edge& pair) { return TokenEffect{number, pair.source, pair.target}; };
  auto entries = records_by_class(classes, pairs, entry, budget);
  const auto width = static_cast<size_t>(automaton.num_columns() - automaton.num_classes);
  return {{classes.runs().begin(), classes.runs().end()},       classes.size(), std::move(entries),
          std::make_shared<const Trees>(trees.pool().finish()), width,          std::move(columns)};
}

}  // namespace tokenfst
