#include "tokenfst/counted/register_functions.h"

namespace tokenfst {

namespace {

// Return the composition of two actions.
int32_t followed(int32_t action, int32_t then) {
  if (then < 0) return then;
  return action >= 0 ? action + then : ~(~action + then);
}

}  // namespace

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
  // By number, since spans move when others are written.
  const size_t size = entries_[function].size();
  size_t steps = 4 * size + 16;
  for (size_t at = 0; at < size; ++at) {
    const Entry entry = entries_[function][at];
    const auto arcs = automaton_.arcs(entry.target, column);
    for (const automata::CountedArc& arc : arcs) {
      const auto [low, high] = automata::before(entry, arc.low, arc.high);
      if (low > high) continue;
      append({entry.source, low, high, arc.target, followed(entry.action, arc.action)});
    }
    steps += 8 * arcs.size();
  }
  budget_.spend(static_cast<int64_t>(steps));
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
      // A single value may be continued as a constant or as a sum.
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
