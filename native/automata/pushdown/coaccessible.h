// Finds states whose configurations can all be completed, for a reason that is simple to find.
//
// Whatever symbol lies under such a state, some text pops that symbol and leads to another such state. So every
// configuration with such a state can be completed, by induction on the height of its stack.
//
// These states are found in rounds: each round looks for texts that avoid all states that were doubtful in any round
// before. Once a round leaves no other state in doubt, its texts are the reason for all states that are not doubtful. A
// round keeps, for each state and symbol, the first text that is found to lead there, so it takes a small part of the
// time of saturating all configurations (pre* of Bouajjani, Esparza & Maler, CONCUR 1997), which is left to the
// doubtful states (`automata/pushdown/completion.py`).
//
// A move that pops several symbols passes a separate state for each of them but the last; such a state counts once it
// can be completed whatever lies under it.
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
