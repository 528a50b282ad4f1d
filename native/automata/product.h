// Intersection and difference: the automaton of the reachable pairs of states.
//
//     intersection    both sides advance
//     difference      the left side advances, and the right side advances or is dead, which is state kNone
//
// The arcs of a pair are those of both states, split where either of them changes, so the work is proportional to the
// arcs of the pairs and does not visit every byte. (Hopcroft, Motwani & Ullman 4.2.1.)
//
// Rejected: OpenFst's `intersect` and `difference`, which the tests compare with: with an arc for each class of bytes,
// and objects and streams at the boundary, they take ten times as long for a hundred thousand strings.
#pragma once

#include <span>

#include "automata/byte_tables.h"

namespace automata {

enum class Operation { kIntersection, kDifference };

// One side of a product: an automaton, and its own number for each label of the product, or kNone.
struct Operand {
  const ByteTables& tables;
  std::span<const int32_t> label_of;
};

// Return the minimal automaton of a product. Throw LimitExceeded past `max_states` pairs.
ByteTables product(const Operand& left, const Operand& right, Operation operation, int64_t max_states,
                   int64_t dense_bytes, Budget& budget);

}  // namespace automata
