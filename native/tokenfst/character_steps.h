// The effect of whole characters on the states of an automaton over bytes, and the bytes and characters on which states
// loop.
//
//     StepTable    [Q, C] the state that each class of bytes leads to; kDead for none; for an automaton with a stack,
//                  kMixed if it does not lead to one state whatever the stack is
//     after        the one state that every valid rest of a character leads to, kDead if all die, kMixed if they differ
//     Loops        the ASCII bytes that lead a state back to itself, and the kinds of characters beyond ASCII that do
#pragma once

#include <cstdint>

#include "automata/byte_tables.h"
#include "support/matrix.h"
#include "support/utf8.h"
#include "tokenfst/trie.h"

namespace tokenfst {

using automata::ByteClasses;
using support::Pending;

// In place of a state or an effect: none, the dead end; not found yet; not unique.
constexpr int32_t kDead = -1, kUnknown = -2, kMixed = -3;

struct StepTable {
  const int32_t* next;
  int32_t num_states, num_columns;
  const ByteClasses& byte_class;

  int32_t operator()(int32_t state, int32_t column) const {
    return next[static_cast<size_t>(state) * num_columns + column];
  }
};

struct Loops {
  uint32_t ascii[4];
  uint32_t characters;  // the kinds of characters beyond ASCII (`support::Kind`)

  static constexpr Loops all() { return {{~0u, ~0u, ~0u, ~0u}, ~0u}; }
  Loops& operator&=(const Loops& other) {
    for (int word = 0; word < 4; ++word) ascii[word] &= other.ascii[word];
    characters &= other.characters;
    return *this;
  }
  // Return whether these include everything that occurs below a node of a trie. `whole`: its tokens are whole
  // characters.
  bool cover(const TrieNode& node, bool whole) const {
    const uint32_t left = (node.ascii_below[0] & ~ascii[0]) | (node.ascii_below[1] & ~ascii[1]) |
                          (node.ascii_below[2] & ~ascii[2]) | (node.ascii_below[3] & ~ascii[3]);
    return !(left | (node.high_below & ~(whole ? characters : 0)));
  }
};

class CharacterSteps {
 public:
  CharacterSteps(const StepTable& table, Budget& budget)
      : table_(table),
        after_(table.num_states, support::kNumPending, kUnknown, budget) {}

  // Return the state that every valid rest of a pending character leads to.
  int32_t after(int32_t state, Pending pending);
  // Return the bytes and characters that a state loops on.
  Loops loops(int32_t state);

 private:
  bool loops_on_characters(int32_t state);

  const StepTable table_;
  support::Matrix<int32_t> after_;
};

}  // namespace tokenfst
