// The bytes of a constraint combined with the pieces of a pre-tokenizer: one automaton that reads both in parallel.
//
//     PieceAutomaton     where the pieces of a text may end, over bytes (`tokenfst/canonical/piece_bytes.py`)
//     WholePieces        the tokens that an encoder only finds by looking up a whole piece, since merges do not make
//                        them
//     CanonicalProduct   states (q, p, t): of the constraint, of the pieces, and a node of the trie of whole pieces
//     split              the state after deciding that a piece ends here: (q, p', root)
//
// A piece that spells one of the whole-piece tokens is that token and must not be written otherwise. So where the bytes
// since the last boundary spell one, the piece cannot end; but each such state has a second state in which it must end,
// and the token itself leads to that one (`whole`). Other states have the node kOut, and without such tokens all states
// do.
//
// A label of the constraint represents tokens that write nothing. An encoder encodes the text on either side of such a
// token separately, so it may be taken where a text may end, and a new text begins after it.
//
// States of a product from which no end can be reached, because a decision about pieces contradicts the constraint, are
// removed.
#pragma once

#include <cstdint>
#include <vector>

#include "automata/byte_tables.h"

namespace tokenfst::canonical {

using automata::kNone;
using support::Budget;
using support::Vector;

struct PieceAutomaton {
  automata::ByteClasses byte_class;  // below `num_classes`
  int32_t num_classes;
  std::vector<int32_t> next;   // [P, C], the state that a class leads to, or kNone; state 0 is the start
  std::vector<int32_t> split;  // [P], the state after deciding that a piece ends here, or kNone
  std::vector<uint8_t> final;  // [P], whether the text may end here

  int32_t step(int32_t state, int32_t column) const { return next[static_cast<size_t>(state) * num_classes + column]; }
};

// Nodes of every trie: no whole piece begins like this; nothing has been read since the last boundary.
constexpr int32_t kOut = 0, kRoot = 1;

struct WholePieces {
  automata::ByteClasses byte_class;
  int32_t num_classes;
  std::vector<int32_t> next;    // [T, C], the node below, or kOut
  std::vector<uint8_t> spells;  // [T], whether the node is a token
  std::vector<int32_t> tokens;  // ascending

  int32_t num_nodes() const { return static_cast<int32_t>(spells.size()); }
  int32_t below(int32_t node, int32_t column) const { return next[static_cast<size_t>(node) * num_classes + column]; }
};

struct CanonicalProduct {
  automata::ByteTables automaton;  // its final states are those where the text may end; without labels
  std::vector<int32_t> split;      // [M], the state after deciding that a piece ends here, or kNone
  std::vector<uint8_t> begins;     // [M], whether that decision has just been made
  std::vector<int32_t> whole;      // [M], the second state of one whose piece spells a whole token, or kNone
  std::vector<int32_t> by_label;   // [M, L], the state after each label of the constraint, or kNone
  int32_t num_labels = 0;

  int32_t num_states() const { return automaton.num_states(); }
  bool is_empty() const { return automaton.start == kNone; }
};

// Return the product of a non-empty constraint with a dense table. Throw LimitExceeded past `max_states`.
CanonicalProduct product(const automata::ByteTables& constraint, const PieceAutomaton& pieces, const WholePieces& words,
                         int64_t max_states, Budget& budget);

}  // namespace tokenfst::canonical
