#include "tokenfst/state_functions.h"

namespace tokenfst {

StateFunctions::StateFunctions(const StepTable& table, Budget& budget)
    : table_(table),
      budget_(budget),
      characters_(table, budget),
      state_loops_(budget),
      pairs_(budget),
      after_(0, table.num_columns, kUnknown, budget),
      after_character_(0, support::kNumPending, kUnknown, budget),
      loops_(budget) {
  state_loops_.reserve(table.num_states);
  for (int32_t state = 0; state < table.num_states; ++state) state_loops_.push_back(characters_.loops(state));
  for (int32_t state = 0; state < table.num_states; ++state) pairs_.push({state, state});
  closed();
}

int32_t StateFunctions::compose(int32_t function, int32_t column) {
  // By number, since spans move when others are written.
  const size_t size = pairs_[function].size();
  for (size_t at = 0; at < size; ++at) {
    const Pair pair = pairs_[function][at];
    const int32_t target = table_(pair.target, column);
    if (target >= 0) pairs_.push({pair.source, target});
  }
  budget_.spend(static_cast<int64_t>(2 * size) + 16);
  const int32_t found = closed();
  return after_[function][column] = found;
}

int32_t StateFunctions::pass(int32_t function, Pending pending) {
  const size_t size = pairs_[function].size();
  budget_.spend(static_cast<int64_t>(2 * size) + 16);
  for (size_t at = 0; at < size; ++at) {
    const Pair pair = pairs_[function][at];
    const int32_t target = characters_.after(pair.target, pending);
    if (target == kMixed) {
      pairs_.discard();
      return after_character_[function][pending] = kMixed;
    }
    if (target >= 0) pairs_.push({pair.source, target});
  }
  const int32_t found = closed();
  return after_character_[function][pending] = found;
}

int32_t StateFunctions::closed() {
  if (pairs_.open().empty()) return kDead;
  const auto [number, is_new] = pairs_.close();
  if (!is_new) return number;
  // What is known at once: which bytes no target can take, and what all targets loop on.
  after_.add_row(kDead);
  after_character_.add_row(kUnknown);
  loops_.push_back(Loops::all());
  const auto row = after_[number];
  for (const Pair& pair : pairs_[number]) {
    const int32_t* next = table_.next + static_cast<size_t>(pair.target) * table_.num_columns;
    for (int32_t column = 0; column < table_.num_columns; ++column)
      row[column] = next[column] >= 0 ? kUnknown : row[column];
    loops_[number] &= state_loops_[pair.target];
  }
  budget_.spend(static_cast<int64_t>(pairs_[number].size()) * (4 + table_.num_columns / 8));
  return number;
}

}  // namespace tokenfst
