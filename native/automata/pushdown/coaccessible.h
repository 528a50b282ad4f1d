// A sufficient condition for states whose configurations can all be completed.
//
// A state satisfies it if, for each symbol that may lie under it, some text pops that symbol and leads to another
// state that satisfies it. By induction on the height of the stack, every configuration with such a state can be
// completed.
//
// The states are found in rounds. Each round looks for texts that avoid the states excluded in earlier rounds; when a
// round excludes no further state, its texts prove the condition for all others. A search keeps, for each state and
// symbol, the first text found, so it takes a small part of the time of saturating all configurations (pre* of
// Bouajjani, Esparza & Maler, CONCUR 1997), which is needed for the excluded states only
// (`automata/pushdown/prestar.py`).
//
// Keeping only the first text leaves gaps: it may, for example, begin a list again where another text ends it, and then
// no text is found for states that need the other one. A search that finds texts in another order has its gaps
// elsewhere. So a round searches in several orders, and excludes the states that none of them completes. Rejected:
// keeping several texts at a time (a move that pushes symbols would have as many outcomes as the product of the numbers
// of texts for these).
//
// A move that pops several symbols passes through an additional state after each symbol but the last. Such a state
// counts once it can be completed whatever symbol lies under it.
#pragma once

#include <cstdint>
#include <span>

#include "automata/pushdown/sequences.h"

namespace automata {

// A step without its column; pops and pushes are sequences.
struct Move {
  int32_t state, pops, pushes, target;
  auto operator<=>(const Move&) const = default;
};

// The moves of an automaton, and which symbols may lie where. States and symbols are grouped into kinds, since very
// many of them may have the same symbols under them.
struct Moves {
  std::span<const Move> moves;
  const Sequences& sequences;
  int32_t end;                             // the state after the end of the text
  std::span<const int32_t> state_kind;     // [Q]
  std::span<const int32_t> symbol_kind;    // [S]
  std::span<const int32_t> below_offsets;  // [K + 1]
  std::span<const int32_t> below;          // the symbols that may lie directly under a kind, ascending; none
                                           // under a kind that only the empty stack lies under

  std::span<const int32_t> below_kind(int32_t kind) const {
    return {below.data() + below_offsets[kind], below.data() + below_offsets[kind + 1]};
  }
};

// Return whether each state is possibly dead, `[Q]`: whether the search finds no proof that it can be completed
// whatever lies under it.
Vector<uint8_t> possibly_dead_states(const Moves& moves, Budget& budget);

}  // namespace automata
