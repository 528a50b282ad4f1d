// PushdownTables: the effect of each class of tokens on a state and a stack.
//
//     node      a state with some symbols popped; nodes 0 .. Q - 1 are the roots, node q of state q. A child is one
//               more symbol, read from the top of the stack down. Equal subtrees are one node, so trees share them
//     edge      the effect of a class at a node; by class within a node
//     outcome   the moves that a class makes there: one in a deterministic automaton, where in addition at most one
//               node of a path has an edge for a class; several otherwise, all of which count, from all nodes of the
//               path
//     move      pops a number of symbols, pushes a sequence, and leads to a state
//
// A token's effect depends on the state and on the symbols that it pops. For each state, the symbols popped form a
// tree, the context tree. The current stack selects one path from the root; a class is allowed if a node of the path
// has an edge for it. State Q - 1 is the end of the sequence: only the class kEnd leads there, and from there to
// itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenfst/character_steps.h"

namespace tokenfst {

struct PushdownTables {
  struct Child {
    int32_t symbol, node;  // one more symbol popped, and the node below
  };
  struct Edge {
    int32_t number;  // the class
    int32_t outcome;
  };
  struct Move {
    int32_t pops, push, target;
    int32_t room;  // how many symbols must be free above the height after popping to complete the text
  };

  int32_t num_states, num_symbols, num_classes;
  int32_t start;                         // with an empty stack
  int32_t max_pops;                      // the depth of the deepest node
  int32_t max_configurations;            // 1 if the automaton is deterministic, otherwise how many are carried
  std::vector<int32_t> child_offsets;    // [N + 1]
  std::vector<Child> children;           // by symbol within a node; none where no deeper node has an edge
  std::vector<int32_t> row_offsets;      // [N + 1]
  std::vector<Edge> edges;               // [E]
  std::vector<int32_t> outcome_offsets;  // [O + 1]; each outcome has a move
  std::vector<Move> moves;               // [M]
  std::vector<int32_t> push_offsets;     // [P + 1]; sequence 0 is empty
  std::vector<int32_t> push_symbols;     // the last one on top

  int32_t num_nodes() const { return static_cast<int32_t>(row_offsets.size()) - 1; }
  int32_t num_outcomes() const { return static_cast<int32_t>(outcome_offsets.size()) - 1; }
  int32_t end_state() const { return num_states - 1; }
  std::span<const Child> children_of(int32_t node) const {
    return {children.data() + child_offsets[node], children.data() + child_offsets[node + 1]};
  }
  // Return the node with one more symbol popped, or kDead.
  int32_t child_of(int32_t node, int32_t symbol) const;
  std::span<const Edge> edges_of(int32_t node) const {
    return {edges.data() + row_offsets[node], edges.data() + row_offsets[node + 1]};
  }
  std::span<const Move> moves_of(int32_t outcome) const {
    return {moves.data() + outcome_offsets[outcome], moves.data() + outcome_offsets[outcome + 1]};
  }
  std::span<const int32_t> pushed(int32_t push) const {
    return {push_symbols.data() + push_offsets[push], push_symbols.data() + push_offsets[push + 1]};
  }
  // Return the outcome of a class at a node, kDead if the class is not allowed there.
  int32_t outcome_of(int32_t node, int32_t number) const;
  size_t num_bytes() const;
};

// The nodes reachable from a root, in topological order: each after all nodes above it. Empty if there is a cycle.
struct Depths {
  std::vector<int32_t> order;        // [n]
  std::vector<int32_t> least, most;  // [N], symbols from a root down, on the shortest and the longest path; or kDead
};
Depths depths_of(const PushdownTables& tables);

}  // namespace tokenfst
