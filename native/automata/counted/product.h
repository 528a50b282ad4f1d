// What is in a language with counted loops and in a regular one: a layout read along with an automaton.
//
// A state of the result is a pair of a state of the layout and one of the automaton, n x Q + q. A byte takes both on;
// marks and epsilon arcs take on the layout alone, so loops remain loops and what is inside of them remains so.
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
