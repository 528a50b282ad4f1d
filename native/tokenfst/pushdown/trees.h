// Trees: the effects of texts on a state and a stack, each stored once and known by a number.
//
//     Part           a leaf: symbols pushed, and the state that follows; or a child: one more symbol popped, and a tree
//     tree           parts, ascending: leaves, then children
//     SequenceTrie   sequences of symbols pushed, the last one on top
//     Trees          all trees of an automaton, as a plain result
//     TreePool       trees under construction
//
// The tree of a state and a text gives, for every stack, where the text leads: the symbols on top select a path, and a
// leaf at its end gives the state, and the symbols that replace the popped ones. In a deterministic automaton every
// path ends in one leaf; otherwise all leaves on the path count, and several children may be for one symbol.
//
// Equal trees are one, so the continuation after symbols have been popped is shared by all ways of popping them:
// `)))))` may pop any of ten symbols each time, and has a hundred thousand paths through five small trees.
//
// Rejected: (state, pops, pushes, state) tuples one by one, with single symbols or with sets of symbols to pop; there
// are as many of them as paths.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "support/interner.h"
#include "support/value_interner.h"
#include "tokenfst/trie.h"

namespace tokenfst {

struct Part {
  int32_t popped;  // the symbol; kNoSymbol for a leaf
  int32_t pushed;  // of a leaf: the sequence; 0 for a child
  int32_t to;      // of a leaf: the state; of a child: the tree

  static constexpr int32_t kNoSymbol = -1;
  static Part leaf(int32_t pushed, int32_t state) { return {kNoSymbol, pushed, state}; }
  static Part child(int32_t symbol, int32_t tree) { return {symbol, 0, tree}; }
  bool is_leaf() const { return popped == kNoSymbol; }
  auto operator<=>(const Part&) const = default;
};

// A sequence with one more symbol at its end.
struct LongerSequence {
  int32_t before, symbol;
  bool operator==(const LongerSequence&) const = default;
};

// Sequences of symbols as a trie. Sequence 0 is empty.
class SequenceTrie {
 public:
  static constexpr int32_t kEmpty = 0;

  explicit SequenceTrie(Budget& budget) : longer_(budget) { longer_.intern({kEmpty, Part::kNoSymbol}); }

  int32_t size() const { return longer_.size(); }
  const LongerSequence& operator[](int32_t sequence) const { return longer_[sequence]; }
  // Return a sequence with one or several symbols appended.
  int32_t extended(int32_t sequence, int32_t symbol) { return longer_.intern({sequence, symbol}).number; }
  int32_t extended(int32_t sequence, std::span<const int32_t> symbols) {
    for (int32_t symbol : symbols) sequence = extended(sequence, symbol);
    return sequence;
  }

 private:
  support::ValueInterner<LongerSequence> longer_;
};

// Trees 0 to the number of states - 1 are leaves that push nothing: the states.
struct Trees {
  int32_t num_states = 0, num_symbols = 0;
  std::vector<int64_t> begins{0};  // [T + 1]
  std::vector<Part> parts;
  std::vector<LongerSequence> sequences;

  int32_t size() const { return static_cast<int32_t>(begins.size()) - 1; }
  std::span<const Part> operator[](int32_t tree) const {
    return {parts.data() + begins[tree], parts.data() + begins[tree + 1]};
  }
  // Return the symbols of a sequence, from the bottom up.
  std::vector<int32_t> symbols(int32_t sequence) const;
};

class TreePool {
 public:
  TreePool(int32_t num_states, int32_t num_symbols, Budget& budget);
  // Continue from a finished set of trees.
  TreePool(const Trees& trees, Budget& budget);

  int32_t size() const { return trees_.size(); }
  std::span<const Part> operator[](int32_t tree) const { return trees_[tree]; }
  SequenceTrie& sequences() { return sequences_; }
  const SequenceTrie& sequences() const { return sequences_; }
  // Return the tree of some parts, at least one, in any order.
  int32_t tree(std::span<Part> parts);
  Trees finish() const;

 private:
  int32_t num_states_, num_symbols_;
  Budget& budget_;
  support::Interner<Part> trees_;
  SequenceTrie sequences_;
};

}  // namespace tokenfst
