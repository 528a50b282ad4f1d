// ByteSteps: the steps of a pushdown automaton over bytes, as arrays that somebody else owns.
//
//     column     a class of bytes, the end of the text, or a label, in this order
//     step       pops symbols, pushes others and leads to a state; applies where its pops are on top of the stack
//     sequence   what steps pop or push, in a trie: sequence p is sequence parent[p], which is below p, and then
//                symbol[p]. Pops are written from the top of the stack down, pushes from the bottom up. Sequence 0 is
//                empty
#pragma once

#include <cstdint>
#include <span>

#include "tokenfst/character_steps.h"

namespace tokenfst {

struct ByteSteps {
  int32_t num_states, num_classes, num_labels, num_symbols;
  ByteClasses byte_class;
  std::span<const int32_t> offsets;  // [Q x columns + 1]
  std::span<const int32_t> pops, pushes, target;
  std::span<const int32_t> parent, symbol;

  int32_t num_columns() const { return num_classes + 1 + num_labels; }
  int32_t end_column() const { return num_classes; }
  size_t cell(int32_t state, int32_t column) const { return static_cast<size_t>(state) * num_columns() + column; }
};

}  // namespace tokenfst
