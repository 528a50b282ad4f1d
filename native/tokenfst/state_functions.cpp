#include "tokenfst/state_functions.h"

namespace tokenfst {

StateTargets::StateTargets(const StepTable& table, Budget& budget)
    : table_(table),
      characters_(table, budget),
      loops_(budget),
      live_(table.num_states, support::words_for(table.num_columns), 0, budget) {
  loops_.reserve(table.num_states);
  for (int32_t state = 0; state < table.num_states; ++state) {
    loops_.push_back(characters_.loops(state));
    for (int32_t column = 0; column < table.num_columns; ++column) {
      if (table(state, column) != kDead) support::set_bit(live_[state], static_cast<uint32_t>(column));
    }
    budget.spend(table.num_columns + 256);
  }
}

}  // namespace tokenfst
