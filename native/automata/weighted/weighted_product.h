// The product of two weighted automata: the texts of both, at the sum of their costs; or the texts of the left one that
// the right one does not accept, at their costs.
#pragma once

#include "automata/weighted/weighted_tables.h"

namespace automata {

// A side of a product, and its number of each label of the product, or kNone.
struct WeightedOperand {
  const WeightedTables& tables;
  std::span<const int32_t> label_of;
};

// Neither side is empty. Throw LimitExceeded past `max_states`.
WeightedBuilder weighted_product(const WeightedOperand& left, const WeightedOperand& right, bool is_difference,
                                 int64_t max_states, Budget& budget);

}  // namespace automata
