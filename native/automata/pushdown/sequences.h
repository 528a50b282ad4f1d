// Sequences: the symbol sequences that steps of a pushdown automaton pop and push, numbered; number 0 is empty.
//
// Pops are written from the top of the stack down, pushes from the bottom up: the last symbol pushed is on top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/arcs.h"

namespace automata {

struct Sequences {
  std::vector<int32_t> offsets{0};  // [P + 1]
  std::vector<int32_t> symbols;

  int32_t size() const { return static_cast<int32_t>(offsets.size()) - 1; }
  std::span<const int32_t> operator[](int32_t number) const {
    return {symbols.data() + offsets[number], symbols.data() + offsets[number + 1]};
  }
};

// Return the sequences of a trie: sequence p is sequence parent[p], which is below p, and then symbol[p]; the first is
// empty.
Sequences sequences_of(std::span<const int32_t> parent, std::span<const int32_t> symbol, Budget& budget);

}  // namespace automata
