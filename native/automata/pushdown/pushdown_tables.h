// PushdownTables: a pushdown automaton over bytes, as the table of its steps.
//
//     column     a class of bytes, the end of the text, or a label, in this order
//     step       pops symbols, pushes others and leads to a state; the steps of a state and a column are adjacent. A
//                step applies if its pops are on top of the stack
//
// In a deterministic automaton at most one step applies in any configuration to any column; otherwise each that applies
// leads to one of the configurations that are carried side by side, of which there are at most `max_configurations`.
// The end of the text leads to the last state, which has no steps. (`automata/pushdown/automaton.py`)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/byte_tables.h"
#include "automata/pushdown/sequences.h"
#include "automata/pushdown/stacks.h"

namespace automata {

struct PushdownStep {
  int32_t pops, pushes;  // sequences
  int32_t target;
};

struct PushdownTables {
  int32_t start = 0;
  int32_t num_states = 0, num_classes = 0, num_labels = 0, num_symbols = 0;
  int32_t max_configurations = 1;
  ByteClasses byte_class{};
  std::vector<int32_t> step_offsets;  // [Q x (C + 1 + L) + 1]
  std::vector<PushdownStep> steps;
  Sequences sequences;

  int32_t num_columns() const { return num_classes + 1 + num_labels; }
  int32_t end_column() const { return num_classes; }
  std::span<const PushdownStep> steps_of(int32_t state, int32_t column) const {
    const size_t cell = static_cast<size_t>(state) * num_columns() + column;
    return {steps.data() + step_offsets[cell], steps.data() + step_offsets[cell + 1]};
  }

  // Whether a text is accepted, with all configurations side by side.
  struct Answer {
    bool accepts;
    int64_t too_many_after;  // the number of bytes that lead to more configurations than may be carried, or -1
  };
  Answer read(std::span<const uint8_t> text, Budget& budget) const;
};

// Return whether at most one step applies in any configuration to any column: of two steps of a cell, neither pops what
// the other does and more. `step_offsets` and `pops` are those of the cells, `parent` that of the sequences' trie.
bool is_deterministic(std::span<const int32_t> step_offsets, std::span<const int32_t> pops,
                      std::span<const int32_t> parent, Budget& budget);

// Return the cell below what a step pops, or kNone if something else is on top.
inline int32_t popped(const Stacks& stacks, std::span<const int32_t> pops, int32_t top) {
  for (int32_t symbol : pops) {
    if (top == Stacks::kEmpty || stacks[top].symbol != symbol) return kNone;
    top = stacks[top].below;
  }
  return top;
}

}  // namespace automata
