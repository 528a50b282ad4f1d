// StackEffects: the effects of prefixes of tokens on a state and a stack: functions from states to trees.
//
//     TreeTargets    trees as the targets of functions: a tree followed by one more byte, or by the rest of a
//                    character, is a tree again, and is computed once
//     StackEffects   functions from states to trees (`tokenfst/functions.h`)
//
// A tree followed by a column: each leaf takes the steps of its state, whose pops first consume what the leaf has
// pushed, and continue as new branches below; children are followed one by one. The known results are stored column by
// column, since a function followed by a byte looks up one column of many trees.
#pragma once

#include <cstdint>
#include <span>

#include "automata/pushdown/pushdown_tables.h"
#include "support/matrix.h"
#include "tokenfst/functions.h"
#include "tokenfst/pushdown/tree_builder.h"
#include "tokenfst/pushdown/trees.h"

namespace tokenfst {

class TreeTargets {
 public:
  TreeTargets(const automata::PushdownTables& automaton, Budget& budget);

  int32_t after(int32_t tree, int32_t column) {
    const int32_t known = after_[column][tree];
    return known == kUnknown ? resolve(tree, column) : known;
  }
  int32_t after_character(int32_t tree, Pending pending) { return after(tree, num_columns_ + pending); }
  const Loops& loops(int32_t tree) const { return loops_[tree]; }
  std::span<const uint32_t> live(int32_t tree) const { return live_[tree]; }

  const TreePool& pool() const { return pool_; }

 private:
  // Return the targets of steps that neither pop nor push, and are the only steps of their column; kMixed for other
  // steps.
  static Vector<int32_t> plain_table(const automata::PushdownTables& automaton, Budget& budget);

  void add_states();
  // Add the data known immediately of new trees: what their parts all loop on, and the columns that none can take.
  void add_trees();
  void add_tree(const Loops& loops, std::span<const uint32_t> live);
  // Compute a tree followed by a column; the columns of a character's pending rests come after the other columns.
  int32_t resolve(int32_t tree, int32_t column);
  int32_t followed(int32_t tree, int32_t column);
  // Add the parts of the tree of a leaf followed by a column to the others.
  void follow_leaf(const Part& leaf, int32_t column);
  void add_step(const Part& leaf, const automata::PushdownStep& step);
  int32_t passed(int32_t tree, int32_t column);

  const automata::PushdownTables& automaton_;
  Budget& budget_;
  const int32_t num_columns_;  // of the automaton over bytes
  Vector<int32_t> plain_;      // [Q, C]
  CharacterSteps characters_;
  TreePool pool_;
  Vector<int32_t> sequence_of_;     // of the pool, by sequences of the automaton
  Vector<Vector<int32_t>> after_;   // [columns and pending][T]
  support::Matrix<uint32_t> live_;  // [T, columns and pending as bits]
  Vector<Loops> loops_;             // [T]
  TreeBuilder builder_;
  Paths paths_;
  Vector<Part> parts_;  // of the tree that is being made
  Vector<int32_t> waiting_;
};

using StackEffects = Functions<TreeTargets>;

}  // namespace tokenfst
