#include "tokenfst/lazy/subsets.h"

#include <algorithm>
#include <stdexcept>

namespace tokenfst {

using automata::kNone;

SubsetMachine::SubsetMachine(const automata::VisiblyPushdownLayout& layout, Budget& budget)
    : SubsetMachine(LazyNfa(layout, budget), budget) {}

SubsetMachine::SubsetMachine(LazyNfa&& nfa, Budget& budget)
    : Machine(nfa.byte_class(), nfa.num_classes(), budget),
      nfa_(std::move(nfa)),
      budget_(budget),
      sets_(budget),
      entries_(budget),
      rule_sets_(budget),
      returns_of_(budget),
      returns_(budget),
      single_(budget),
      gathered_(budget),
      marks_(budget),
      targets_(budget),
      row_(budget),
      arcs_(budget) {
  if (!nfa_.has_text()) return;
  for (int32_t start : nfa_.starts()) {
    begin_gathering();
    gather(start);
    rule_sets_.push_back(closed());
  }
  // Steps that call lead to the sets where rules begin, all of which exist now.
  for (StackStep& step : steps_) {
    if (step.num_pushes) step.target = rule_sets_[step.target];
  }
  start_ = rule_sets_[0];
}

void SubsetMachine::begin_gathering() {
  gathered_.clear();
  if (marks_.size() < static_cast<size_t>(nfa_.num_states())) {
    marks_.resize(nfa_.num_states(), 0);
    single_.resize(nfa_.num_states(), kDead);
  }
  if (++stamp_ == INT32_MAX) {
    std::ranges::fill(marks_, 0);
    stamp_ = 1;
  }
}

void SubsetMachine::gather(int32_t state) {
  if (marks_[state] == stamp_) return;
  marks_[state] = stamp_;
  gathered_.push_back(state);
}

int32_t SubsetMachine::closed() {
  sets_.discard();
  for (size_t at = 0; at < gathered_.size(); ++at) {
    const int32_t state = gathered_[at];
    targets_.clear();
    nfa_.epsilon_of(state, targets_);
    for (int32_t target : targets_) gather(target);
    if (nfa_.is_kept(state)) sets_.push(state);
    budget_.spend(8 + static_cast<int64_t>(targets_.size()));
  }
  std::ranges::sort(sets_.open());
  // First reserve room, then do what cannot throw.
  support::reserve_more(entries_, 1);
  support::reserve_more(returns_of_, 1);
  support::reserve_more(ends_, 1);
  support::reserve_more(steps_, 1);
  support::reserve_more(symbols_, 1);
  const int32_t rule = rule_called();
  support::reserve_more(returns_, rule == kNone ? 0 : nfa_.num_exits(rule));
  table_.reserve_row();
  const auto [set, is_new] = sets_.close();
  if (is_new) add_set(set);
  return set;
}

// The rule that all gathered states call, kNone if they call none.
int32_t SubsetMachine::rule_called() {
  int32_t rule = kNone, exit = kNone, num_plain = 0, num_calls = 0, num_ends = 0;
  for (int32_t state : sets_.open()) {
    const int32_t call = nfa_.call_of(state), ends = nfa_.exit_of(state);
    const int32_t called = call == kNone ? rule : nfa_.rule_of(call);
    if ((rule != kNone && called != rule) || (exit > 0 && ends > 0 && ends != exit)) {
      throw std::invalid_argument("two rules are called, or a rule ends in two exits, where the same text was read");
    }
    rule = called;
    exit = std::max(exit, ends);
    ++(call != kNone ? num_calls : ends > 0 ? num_ends : num_plain);
  }
  if ((num_calls > 0) + (num_ends > 0) + (num_plain > 0) > 1) {
    throw std::invalid_argument("where a rule is called, or ends, something else can be read");
  }
  return rule;
}

void SubsetMachine::add_set(int32_t set) {
  table_.add_row(kUnknownEntry);
  ends_.push_back(kDead);
  returns_of_.push_back({0, 0});
  entries_.push_back(set);
  for (int32_t state : sets_[set]) {
    const int32_t call = nfa_.call_of(state), exit = nfa_.exit_of(state);
    if (call != kNone) {
      // Push one symbol, the set itself.
      const int32_t rule = nfa_.rule_of(call);
      StackStep step;
      step.push_begin = static_cast<int32_t>(symbols_.size()), step.num_pushes = 1;
      step.target = static_cast<size_t>(rule) < rule_sets_.size() && start_ != kDead ? rule_sets_[rule] : rule;
      symbols_.push_back(set);
      returns_of_[set] = {static_cast<int32_t>(returns_.size()), nfa_.num_exits(rule)};
      returns_.insert(returns_.end(), nfa_.num_exits(rule), kUnknownEntry);
      entries_[set] = entry_of(static_cast<int32_t>(steps_.size()));
      steps_.push_back(step);
      return;
    }
    if (exit > 0) {
      StackStep step;
      step.exit = nfa_.exit_in_rule(exit);
      entries_[set] = entry_of(static_cast<int32_t>(steps_.size()));
      steps_.push_back(step);
      return;
    }
    if (exit == 0) ends_[set] = 0;
  }
}

int32_t SubsetMachine::set_behind(int32_t state) {
  if (static_cast<size_t>(state) < single_.size() && single_[state] != kDead) return single_[state];
  begin_gathering();
  gather(state);
  const int32_t set = closed();
  return single_[state] = set;
}

void SubsetMachine::expand(int32_t set) {
  arcs_.clear();
  // By number: arcs may make blocks, but no sets.
  for (int32_t state : sets_[set]) nfa_.arcs_of(state, arcs_);
  budget_.spend(16 + 8 * static_cast<int64_t>(arcs_.size()));
  row_.assign(num_classes(), kDead);
  if (arcs_.size() == 1) {
    std::fill(row_.begin() + arcs_[0].low, row_.begin() + arcs_[0].high + 1, entries_[set_behind(arcs_[0].target)]);
  } else {
    fill_row();
  }
  std::ranges::copy(row_, table_[set].begin());
}

// From the arcs: a class of bytes whose arcs all lead to one state leads to the set of that single state.
void SubsetMachine::fill_row() {
  for (const ClassArc& arc : arcs_) {
    for (int32_t column = arc.low; column <= arc.high; ++column) {
      row_[column] = row_[column] == kDead || row_[column] == arc.target ? arc.target : kMixed;
    }
  }
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (row_[column] == kDead) continue;
    if (row_[column] != kMixed) {
      row_[column] = entries_[set_behind(row_[column])];
      continue;
    }
    begin_gathering();
    for (const ClassArc& arc : arcs_) {
      if (arc.low <= column && column <= arc.high) gather(arc.target);
    }
    row_[column] = entries_[closed()];
  }
}

int32_t SubsetMachine::returned(int32_t symbol, int32_t exit) {
  if (exit >= returns_of_[symbol].count) return kDead;
  const int32_t place = returns_of_[symbol].begin + exit;
  if (returns_[place] != kUnknownEntry) return returns_[place];
  begin_gathering();
  for (int32_t state : sets_[symbol]) {
    const int32_t call = nfa_.call_of(state);
    const int32_t target = call == kNone ? kNone : nfa_.target_of(call, exit);
    if (target != kNone) gather(target);
  }
  const int32_t reached = gathered_.empty() ? kDead : closed();
  return returns_[place] = reached;
}

int32_t SubsetMachine::far_state(int32_t set, int32_t longest) {
  if (!nfa_.counts()) return set;
  begin_gathering();
  bool changed = false;
  for (int32_t state : sets_[set]) {
    const int32_t far = nfa_.far_state(state, longest);
    changed = changed || far != state;
    gather(far);
  }
  return changed ? closed() : set;
}

int32_t SubsetMachine::alike(int32_t set, int32_t longest) {
  const auto misses_none = [&](int32_t state) { return nfa_.misses_none(state); };
  return std::ranges::all_of(sets_[set], misses_none) ? far_state(set, longest) : set;
}

size_t SubsetMachine::num_bytes() const {
  return Machine::num_bytes() + nfa_.num_bytes() +
         4 * (sets_.num_values() + 3 * sets_.size() + entries_.size() + returns_.size() + single_.size());
}

}  // namespace tokenfst
