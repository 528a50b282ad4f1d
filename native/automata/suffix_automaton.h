// The automaton of all substrings of a text, linear in the text: the suffix automaton, spelled out in bytes.
//
//     chunk              the unit that a substring does not cut: a character, or a word
//     suffix automaton   over chunks; a state is the set of places where a string of chunks ends in the text (Blumer,
//                        Blumer, Haussler, Ehrenfeucht, Chen & Seiferas 1985): at most 2 N states and 3 N transitions
//                        for N chunks, built chunk by chunk
//     spelled            all transitions into a state read one chunk, whose bytes are one chain in front of the state
//
// All states are final, including the first: the empty string is a substring. Chunks that begin with the same bytes
// make the spelled automaton slightly non-deterministic, so it is determinized and minimized like everything else.
#pragma once

#include <span>
#include <vector>

#include "automata/arcs.h"

namespace automata {

// A chunk's bytes are text[begin] up to text[begin + size].
struct Chunk {
  int32_t begin, size;
};

// A non-deterministic automaton from state 0 to state 1.
struct SpelledSubstrings {
  int32_t num_states;
  std::vector<Range> ranges;
  std::vector<Edge> epsilon;
};

// Return all substrings of the text that `numbers`, the numbers of its chunks in order, describe.
SpelledSubstrings substrings(std::span<const uint8_t> text, std::span<const Chunk> chunks,
                             std::span<const int32_t> numbers, Budget& budget);

}  // namespace automata
