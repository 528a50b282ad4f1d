// The body of OpenFst's binary form of a `vector` automaton, which crosses the boundary instead of a call for each arc.
//
// As 4-byte words: 3 at the head of a state (weight, number of arcs in 8 bytes), then 4 for each of its arcs (input
// label, output label, weight, next state). Labels are symbols plus one, since OpenFst's label 0 is epsilon.
// (OpenFst 1.8, `fst/vector-fst.h`, `VectorFst::WriteFst`.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace automata {

struct FstArc {
  int32_t source, input, output, target;
};

// Return the words of unweighted transitions; arcs keep their order within a state.
std::vector<int32_t> vector_fst_words(std::span<const uint8_t> final, std::span<const FstArc> arcs);

}  // namespace automata
