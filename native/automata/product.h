// Intersection and difference: the automaton of pairs of states, as far as pairs are reached.
//
//     intersection    both go on
//     difference      the left one goes on, and the right one goes on or has died, which is state kNone
//
// The arcs of a pair are those of both states, cut where either of them changes, so the work is the arcs of the pairs
// and not a look at every byte. (Hopcroft, Motwani & Ullman 4.2.1.)
//
// Rejected: OpenFst's `intersect` and `difference`, which are what the tests compare with: an arc for each class of
// bytes, objects and streams at the boundary, ten times the time for a hundred thousand strings.
#pragma once

#include <span>

#include "automata/byte_tables.h"

namespace automata {

enum class Operation { kIntersection, kDifference };

// One side of a product: an automaton, and which of its labels each label of the product is, kNone where it has none.
struct Operand {
  const ByteTables& tables;
  std::span<const int32_t> label_of;
};

// The minimal automaton of a product. Throws LimitExceeded past `max_states` pairs.
ByteTables product(const Operand& left, const Operand& right, Operation operation, int64_t max_states,
                   int64_t dense_bytes, Budget& budget);

}  // namespace automata
