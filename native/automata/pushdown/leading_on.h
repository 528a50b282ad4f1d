// States that lead on to the end of a text for a reason that is simple to find.
//
// Whatever symbol lies under such a state, some text leads to another such state by the time that the symbol has been
// popped. So every configuration with such a state can be completed, by induction on the height of its stack.
//
// Which states are such states is found in rounds: each looks for texts that lead to none of the states that were
// doubtful in any round before. Once it leaves no other state in doubt, its texts are the reason for all that it leaves
// in none. A round keeps for each state and symbol the first text that is found to lead there, so it takes a small part
// of the time that the saturation of all configurations takes (pre* of Bouajjani, Esparza & Maler, CONCUR 1997), which
// is left for the doubtful states (`automata/pushdown/completion.py`).
//
// A move that pops several symbols is a move to a state of its own for each but the last one, which counts once it can
// be completed whatever lies under it.
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

// The moves of an automaton, and which symbols may lie where. States and symbols are of kinds, since there may be very
// many of them with the same symbols under them.
struct Moves {
  std::span<const Move> moves;
  const Sequences& sequences;
  int32_t end;                             // the state behind the end of the text
  std::span<const int32_t> state_kind;     // [Q]
  std::span<const int32_t> symbol_kind;    // [S]
  std::span<const int32_t> below_offsets;  // [K + 1]
  std::span<const int32_t> below;          // the symbols that may lie directly under what is of a kind, which ascend;
                                           // none under what only the empty stack is under

  std::span<const int32_t> below_kind(int32_t kind) const {
    return {below.data() + below_offsets[kind], below.data() + below_offsets[kind + 1]};
  }
};

// Which states have no simple reason to be completed whatever lies under them, `[Q]`.
Vector<uint8_t> doubtful_states(const Moves& moves, Budget& budget);

}  // namespace automata
