// FlaggedStates: states of rules with guarded arcs, each with the flags that are set there.
//
//     FlagSets        sets of flags, as numbers; 0 is the empty one
//     FlaggedState    a state of the grammar, and the set of flags that are set
//
// A rule in which each of n things may come once, in any order, has a state for each set of them, 2^n in all. With
// flags it has one state, and the sets are made when texts reach them (`automata/visibly_pushdown/grammar.py`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "automata/visibly_pushdown/layout.h"
#include "support/interner.h"
#include "support/value_interner.h"

namespace tokenfst {

using support::Budget;
using support::Vector;

class FlagSets {
 public:
  explicit FlagSets(Budget& budget) : sets_(budget) { sets_.intern({}); }

  size_t num_bytes() const { return sets_.num_bytes(); }
  bool has(int32_t set, int32_t flag) const {
    const auto words = sets_[set];
    const auto word = static_cast<size_t>(flag / 64);
    return word < words.size() && (words[word] >> flag % 64 & 1);
  }
  // Return the words of a set, without words of 0 at the end; and the set with such words.
  std::span<const uint64_t> operator[](int32_t set) const { return sets_[set]; }
  int32_t number(std::span<const uint64_t> words) { return sets_.intern(words).number; }
  // Return the set with one more flag.
  int32_t with(int32_t set, int32_t flag) {
    const auto word = static_cast<size_t>(flag / 64);
    const size_t size = std::max(sets_[set].size(), word + 1);
    sets_.discard();
    for (size_t at = 0; at < size; ++at) sets_.push(at < sets_[set].size() ? sets_[set][at] : 0);
    sets_.open()[word] |= uint64_t{1} << flag % 64;
    return sets_.close().number;
  }

 private:
  support::Interner<uint64_t> sets_;
};

struct FlaggedState {
  int32_t state, flags;

  bool operator==(const FlaggedState&) const = default;
};

}  // namespace tokenfst
