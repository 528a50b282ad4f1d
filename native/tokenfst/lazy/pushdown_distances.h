// PushdownDistances: distances of a pushdown automaton with its stack, where every byte is a token.
//
// They are those of an automaton over tokens (`tokenfst/pushdown/distance.h`) whose vocabulary has one token for each
// byte and one for the end.
#pragma once

#include "automata/pushdown/pushdown_tables.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/pushdown/distance.h"

namespace tokenfst {

class PushdownDistances : public DistanceSource {
 public:
  PushdownDistances(const automata::PushdownTables& automaton, Budget& budget);

  Context bottom() const override { return {0, 0}; }
  int32_t distance(int32_t context, int32_t state) override { return contexts_.distance(context, state); }
  Context above(int32_t context, int32_t symbol) override;

 private:
  const PushdownTables tables_;
  const PopDistances pop_distances_;
  StackContexts contexts_;
};

}  // namespace tokenfst
