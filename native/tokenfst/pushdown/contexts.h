// Context trees: the effects of all classes together, laid out such that the current stack selects a path.
//
// An entry gives the tree (`tokenfst/pushdown/trees.h`) that describes the effect of a class in a state. The trees of
// all classes are read in parallel, from the states down:
//
//     node    how many symbols have been popped, and for each class the trees that may apply there
//     edge    of a class with a leaf among its trees: the outcome is the effect of all its leaves
//     child   for one more symbol: the classes with a child for it, and those children
//
// Nodes with the same trees at the same depth are one. A node has a higher number than its parents.
#pragma once

#include <cstdint>
#include <span>

#include "tokenfst/pushdown/tables.h"
#include "tokenfst/pushdown/token_effects.h"

namespace tokenfst {

struct ContextOptions {
  int32_t num_classes, start, max_configurations;
  std::span<const int32_t> headroom, symbol_headroom;  // [Q], [S], from the automaton over bytes
};

// Return the tables of some effects, which are sorted by class. `ends` are those of the class kEnd.
PushdownTables context_tables(std::span<const TokenEffect> ends, std::span<const TokenEffect> entries,
                              const Trees& trees, const ContextOptions& options, Budget& budget);

// Return the effects of the end tokens, which lead to the last state and stay there.
Vector<TokenEffect> end_effects(const TokenEffects& effects, Budget& budget);

}  // namespace tokenfst
