#include "tokenfst/lazy/pushdown_distances.h"

#include "tokenfst/pushdown/contexts.h"
#include "tokenfst/pushdown/token_effects.h"

namespace tokenfst {

namespace {

// Return a vocabulary of all single bytes, and then the end.
Vocabulary bytes_alone() {
  std::vector<uint8_t> data;
  std::vector<int64_t> offsets{0};
  for (int byte = 0; byte < 256; ++byte) data.push_back(static_cast<uint8_t>(byte)), offsets.push_back(byte + 1);
  offsets.push_back(256);
  return Vocabulary(std::move(data), std::move(offsets), {256});
}

PushdownTables tables_of(const automata::PushdownTables& automaton, Budget& budget) {
  const TokenEffects effects = token_effects(automaton, bytes_alone(), budget);
  // Heights are not needed here.
  const Vector<int32_t> headroom(automaton.num_states, 0, budget), symbol_headroom(automaton.num_symbols, 0, budget);
  const ContextOptions options{effects.num_classes, automaton.start, automaton.max_configurations, headroom,
                               symbol_headroom};
  return context_tables(end_effects(effects, budget), effects.entries, *effects.trees, options, budget);
}

}  // namespace

PushdownDistances::PushdownDistances(const automata::PushdownTables& automaton, Budget& budget)
    : tables_(tables_of(automaton, budget)),
      pop_distances_(tables_, budget),
      contexts_(pop_distances_, budget) {}

Context PushdownDistances::above(int32_t context, int32_t symbol) {
  const Context found = contexts_.onto(context, symbol);
  return found.cost >= kFar ? kNoContext : found;
}

}  // namespace tokenfst
