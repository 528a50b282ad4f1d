// TokenEffects: the classes of a vocabulary under a pushdown automaton, and the effect of each.
//
// Tokens with one function from states to trees are one letter to the automaton, whatever its stack is
// (`tokenfst/token_classes.h`).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "automata/pushdown/pushdown_tables.h"
#include "tokenfst/classes.h"
#include "tokenfst/pushdown/trees.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

struct TokenEffect {
  int32_t number, source, tree;  // the effect of a class in a state
  bool operator==(const TokenEffect&) const = default;
};

struct TokenEffects {
  std::vector<ClassRun> runs;        // cover all ranks in order
  int32_t num_classes;               // including kNever and kEnd
  std::vector<TokenEffect> entries;  // by class, and then by source
  std::shared_ptr<const Trees> trees;
  size_t num_columns;                 // for the end of the text, and for labels
  std::vector<int32_t> column_trees;  // [Q, columns], the tree of each state followed by one of these, or kDead
};

TokenEffects token_effects(const automata::PushdownTables& automaton, const Vocabulary& vocabulary, Budget& budget);

}  // namespace tokenfst
