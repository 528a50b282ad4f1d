// TokenClasses: the composition of a byte automaton with a detokenizer, fast and exact.
//
// The minimal-alphabet form of `determinize(A o T)` (Koo, Liu & He 2024, Algorithm 2): a class for each token and the
// transitions of each class, kilobytes instead of a mask for each state. Two methods give the same classes:
//
//     state_classes      the walk of `tokenfst/walk.h`, with functions on states that are hash-consed
//     relation_classes   for automata like a list of a million names: explicit functions, only along the current path
//
// A list has many states and nearly no loops, so a row of all byte classes for each function would be most of the work.
// Instead, the pairs of a node's children are found in one pass over its own pairs, by the arcs of each target; the
// pairs of a node that has tokens are stored once. Work is the number of pairs of all visited nodes, about three for
// each edge of the token automaton; memory is the edges, each class once, plus the pairs along one path.
//
// Rejected for lists: a walk from every state along its own arcs (each step waits for the one before it, where
// neighbouring pairs are independent); sorting edges by token afterwards (twice the memory).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/byte_tables.h"
#include "tokenfst/classes.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

struct TokenEdge {
  int32_t source, number, target;  // from a state, by the tokens of a class, to a state
};

// Return the edges that the pairs of each class's effect make.
template <class Pairs>
std::vector<TokenEdge> token_edges(const Classes& classes, Pairs pairs, Budget& budget) {
  const auto edge = [](int32_t number, const automata::Edge& pair) {
    return TokenEdge{pair.source, number, pair.target};
  };
  return records_by_class(classes, pairs, edge, budget);
}

struct TokenClasses {
  std::vector<ClassRun> runs;    // cover all ranks in order
  int32_t num_classes;           // including kNever and kEnd
  std::vector<TokenEdge> edges;  // by class, and then by source
};

TokenClasses state_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget);
// Do the same for sparse automata.
TokenClasses relation_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget);
// Return whether `relation_classes` is the better method: if few states allow nearly every token.
bool is_list_like(const automata::ByteTables& automaton, const Vocabulary& vocabulary);
// Choose one of the two.
TokenClasses token_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget);

// Return the class of a token under runs that cover all ranks, and those of all tokens, `[V]`.
int32_t class_of(int32_t token, const Vocabulary& vocabulary, std::span<const ClassRun> runs);
std::vector<int32_t> class_of_tokens(const Vocabulary& vocabulary, std::span<const ClassRun> runs);

// Return whether every byte that an automaton reads is a token by itself.
bool spells_all(const automata::ByteTables& automaton, std::span<const bool> is_token_byte);

}  // namespace tokenfst
