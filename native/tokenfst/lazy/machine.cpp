#include "tokenfst/lazy/machine.h"

#include <algorithm>

namespace tokenfst {

Machine::Machine(const ByteClasses& byte_class, int32_t num_classes, Budget& budget)
    : byte_class_(byte_class),
      table_(num_classes, kUnknownEntry, budget),
      ends_(budget),
      steps_(budget),
      symbols_(budget),
      bytes_(num_classes, ClassBytes{}, budget),
      num_ascii_(budget) {
  for (int byte = 0; byte < 256; ++byte) {
    ClassBytes& own = bytes_[byte_class_[byte]];
    own.all.add(static_cast<uint8_t>(byte));
    own.num_ascii += byte < 0x80;
  }
  for (const ClassBytes& own : bytes_) num_ascii_.push_back(own.num_ascii);
}

bool Machine::reads(uint8_t byte) const {
  for (int32_t state = 0; state < num_states(); ++state) {
    if (table_[state][byte_class_[byte]] != kDead) return true;
  }
  return false;
}

int32_t Machine::described(std::span<const int32_t>& description) {
  const int32_t number = description.front();
  description = description.subspan(1);
  return number;
}

void Machine::make_whole(int32_t state) {
  if (!table_.is_known(state)) expand(state);
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (const int32_t does = table_[state][column]; does <= kLastDeferred) made_in_row(state, does);
  }
  table_.set_whole(state);
}

// Make a deferred entry, put it in the row in place of all that are equal, and return it.
int32_t Machine::made_in_row(int32_t state, int32_t deferred) {
  const int32_t made = made_entry(deferred);
  table_.replace(state, deferred, made);
  return made;
}

Place Machine::stack_step(const Place& from, int32_t column, Stacks& stacks, Looked& looked) {
  if (!table_.is_known(from.state)) expand(from.state);
  int32_t does = table_[from.state][column], top = from.top;
  if (does <= kLastDeferred) does = made_in_row(from.state, does);
  if (does < kDead) stacks.drop_from(from.free);
  // Where a rule ends, the rule that called it may end at once, or call another one.
  while (does < kDead) {
    const int32_t exit = steps_[step_of(does)].exit;
    if (exit < 0) return take(step_of(does), {from.state, top, from.free}, stacks, looked);
    if (top < stacks.num_kept()) looked.lowest = std::min(looked.lowest, stacks[top].height);
    if (top == Stacks::kEmpty) return {kDead, top, from.free};
    const auto called = stacks[top];
    top = called.below;
    does = returned(called.symbol, exit);
  }
  return {does, top, from.free};
}

Place Machine::take(int32_t number, const Place& from, Stacks& stacks, Looked& looked) {
  for (;; ++number) {
    const StackStep& step = steps_[number];
    int32_t top = from.top, left = step.num_pops;
    for (int32_t at = step.pop_begin; left; ++at, --left) {
      if (top < stacks.num_kept()) looked.lowest = std::min(looked.lowest, stacks[top].height);
      if (top == Stacks::kEmpty || stacks[top].symbol != symbols_[at]) break;
      top = stacks[top].below;
    }
    if (left == 0) {
      for (int32_t at = 0; at < step.num_pushes; ++at) top = stacks.push_temporary(symbols_[step.push_begin + at], top);
      return {step.target >= kDead ? step.target : made_target(number), top, stacks.end()};
    }
    if (!step.has_more) return {kDead, from.top, from.free};
  }
}

bool Machine::may_end(const Place& place, Stacks& stacks, Looked& looked) {
  const int32_t does = ends_[place.state];
  if (does >= kDead) return does != kDead;
  stacks.drop_from(place.free);
  return take(step_of(does), place, stacks, looked).state != kDead;
}

FixedMachine::FixedMachine(const automata::ByteTables& automaton, Budget& budget)
    : Machine(automaton.byte_class, automaton.num_classes, budget) {
  start_ = automaton.start;
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    table_.add();
    std::copy_n(automaton.next.begin() + static_cast<std::ptrdiff_t>(state) * automaton.num_classes,
                automaton.num_classes, table_.open().begin());
    table_.keep(state);
    ends_.push_back(automaton.final[state] ? 0 : kDead);
    budget.spend(automaton.num_classes);
  }
}

FixedMachine::FixedMachine(const automata::PushdownTables& automaton, Budget& budget)
    : Machine(automaton.byte_class, automaton.num_classes, budget) {
  start_ = automaton.start;
  symbols_.assign(automaton.sequences.symbols.begin(), automaton.sequences.symbols.end());
  const auto entry = [&](int32_t state, int32_t column) {
    const auto own = automaton.steps_of(state, column);
    if (own.empty()) return kDead;
    if (own[0].pops == 0 && own[0].pushes == 0) return own[0].target;
    const auto first = static_cast<int32_t>(steps_.size());
    for (const automata::PushdownStep& step : own) {
      const int32_t pops = automaton.sequences.offsets[step.pops], pushes = automaton.sequences.offsets[step.pushes];
      steps_.push_back({pops, automaton.sequences.offsets[step.pops + 1] - pops, pushes,
                        automaton.sequences.offsets[step.pushes + 1] - pushes, step.target, -1, &step != &own.back()});
    }
    return entry_of(first);
  };
  for (int32_t state = 0; state < automaton.num_states; ++state) {
    table_.add();
    const std::span<int32_t> row = table_.open();
    for (int32_t column = 0; column < automaton.num_classes; ++column) row[column] = entry(state, column);
    table_.keep(state);
    ends_.push_back(entry(state, automaton.end_column()));
    budget.spend(automaton.num_classes);
  }
}

}  // namespace tokenfst
