#include "tokenfst/register_functions.h"

#include <algorithm>

namespace tokenfst {

RegisterFunctions::RegisterFunctions(const automata::CountedTables& automaton, Budget& budget)
    : automaton_(automaton),
      budget_(budget),
      entries_(budget),
      after_(0, automaton.num_classes, kUnknown, budget) {
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    entries_.push({state, 0, automaton.max_register, state, 0});
  }
  closed();
}

int32_t RegisterFunctions::compose(int32_t function, int32_t column) {
  const size_t size = entries_[function].size();
  for (size_t at = 0; at < size; ++at) {
    const Entry entry = entries_[function][at];
    for (const auto& arc : automaton_.arcs(entry.target, column)) {
      int32_t low = entry.low, high = entry.high, action = arc.action;
      if (entry.action >= 0) {
        low = std::max(low, arc.low - entry.action), high = std::min(high, arc.high - entry.action);
        if (action >= 0) action += entry.action;
      } else {
        const int32_t value = ~entry.action;
        if (value < arc.low || arc.high < value) continue;
        if (action >= 0) action = ~(value + action);
      }
      if (low <= high) append({entry.source, low, high, arc.target, action});
    }
  }
  budget_.spend(static_cast<int64_t>(8 * size) + 16);
  const int32_t found = closed();
  return after_[function][column] = found;
}

void RegisterFunctions::append(Entry entry) {
  int32_t value = entry.action >= 0 ? entry.low + entry.action : ~entry.action;  // after the least value
  const auto written = entries_.open();
  if (!written.empty()) {
    Entry& last = written.back();
    if (last.source == entry.source && last.target == entry.target && last.high + 1 == entry.low) {
      int32_t action = last.action;
      // One value alone goes on as a constant, or as a sum.
      if (last.low == last.high && value == ~action + 1 && value >= entry.low) action = value - entry.low;
      if (value == (action >= 0 ? entry.low + action : ~action)) {
        last.action = action;
        last.high = action == entry.action ? entry.high : entry.low;
        if (last.high == entry.high) return;
        ++entry.low;
        value += entry.action >= 0;
      }
    }
  }
  if (entry.low == entry.high) entry.action = ~value;
  entries_.push(entry);
}

int32_t RegisterFunctions::closed() {
  if (entries_.open().empty()) return kDead;
  const auto [number, is_new] = entries_.close();
  if (is_new) after_.add_row(kUnknown);
  return number;
}

}  // namespace tokenfst
