// Skeleton: the NFAs of a text with assertions, over classes of characters, in one pool of states.
//
//     assertion    the automaton of what stands in a lookahead or a lookbehind; inner ones come first
//     guard        2n: assertion n holds here; 2n + 1: it does not; kNone: no condition
//     jump         leads to another state of the same automaton where its guard holds, and reads nothing
//     arc          reads a class of characters
//
// (`automata/assertions/skeleton.py` lays them out.)
#pragma once

#include <cstdint>
#include <span>

#include "automata/arcs.h"

namespace automata {

struct GuardedJump {
  int32_t source, guard, target;
};

struct Assertion {
  int32_t is_behind, start, end;
};

struct Skeleton {
  int32_t num_states;
  int32_t start, end;                  // of the text
  std::span<const int32_t> owner;      // [Q], the assertion that a state belongs to, kNone for the text
  std::span<const Arc> arcs;           // by source, then by symbol
  std::span<const GuardedJump> jumps;  // by source
  std::span<const Assertion> assertions;
};

}  // namespace automata
