// The intersection of a language with counted loops and a regular one: a layout run in parallel with an automaton.
//
// A state of the result is a pair of a state of the layout and a state of the automaton, numbered n x Q + q. A byte
// advances both; marks and epsilon arcs advance the layout alone, so loops remain loops with the same contents.
#pragma once

#include <span>
#include <vector>

#include "automata/byte_tables.h"
#include "automata/counted/subsets.h"

namespace automata {

struct PairedArcs {
  std::vector<Range> ranges;
  std::vector<MarkedEdge> epsilon;
};

PairedArcs paired(std::span<const Range> ranges, std::span<const MarkedEdge> epsilon, const ByteTables& automaton,
                  Budget& budget);

}  // namespace automata
