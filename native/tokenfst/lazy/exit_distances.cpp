#include "tokenfst/lazy/exit_distances.h"

#include <algorithm>

namespace tokenfst {

namespace {

using automata::kNone;

// With more rows than this for states with flags, no further open guarded arcs are followed.
constexpr size_t kMaxMade = 1 << 12;

}  // namespace

ExitDistances::ExitDistances(SubsetMachine& machine, const Trie& tokens, Budget& budget)
    : machine_(machine),
      nfa_(machine.nfa()),
      budget_(budget),
      inside_(nfa_, tokens, budget),
      to_exit_(budget),
      has_flags_(budget),
      possible_exits_(budget),
      made_(budget),
      followed_(budget),
      num_followed_(budget),
      made_rows_(budget) {
  find_rules_with_flags();
  find_paths_to_exits();
}

void ExitDistances::find_rules_with_flags() {
  if (nfa_.guarded_.empty()) return;
  has_flags_.assign(nfa_.num_outer(), false);
  const auto num_rules = static_cast<int32_t>(nfa_.starts_.size());
  for (int32_t rule = 0; rule < num_rules; ++rule) {
    const int32_t begin = nfa_.starts_[rule], end = rule + 1 < num_rules ? nfa_.starts_[rule + 1] : nfa_.num_outer();
    if (nfa_.guarded_offsets_[begin] == nfa_.guarded_offsets_[end]) continue;
    std::fill(has_flags_.begin() + begin, has_flags_.begin() + end, true);
  }
  find_possible_exits();
}

// Find the exits of rules with flags that each state leads to if all arcs are open.
void ExitDistances::find_possible_exits() {
  possible_exits_.assign(nfa_.num_outer(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t state = nfa_.num_outer() - 1; state >= 0; --state) {
      if (!has_flags_[state]) continue;
      uint64_t found = possible_exits_[state];
      const auto add = [&](int32_t target) { found |= possible_exits_[target]; };
      if (const int32_t exit = nfa_.exit_of(state); exit != kNone) found |= exit_bit(nfa_.exit_in_rule(exit));
      inside_.each_successor(state, [&](int32_t, int32_t target) { add(target); });
      for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) add(arc.target);
      if (const int32_t call = nfa_.call_of(state); call != kNone) {
        for (int32_t exit = 0; exit < nfa_.num_exits(nfa_.rule_of(call)); ++exit) {
          if (const int32_t target = nfa_.target_of(state, exit); target != kNone) add(target);
        }
      }
      changed = changed || found != possible_exits_[state];
      possible_exits_[state] = found;
    }
    budget_.spend(8 * static_cast<int64_t>(nfa_.num_outer()));
  }
}

// Return the outer states in postorder: except on cycles, each one comes after those that it leads to, so that
// distances along a long path are found in one round.
Vector<int32_t> ExitDistances::last_states_first() {
  Vector<int32_t> order(budget_), waiting(budget_);
  Vector<uint8_t> is_seen(nfa_.num_outer(), false, budget_);
  const auto visit = [&](int32_t state) {
    if (!is_seen[state]) waiting.push_back(state);
  };
  for (int32_t first = 0; first < nfa_.num_outer(); ++first) {
    visit(first);
    while (!waiting.empty()) {
      const int32_t at = waiting.back();
      if (at < 0) order.push_back(-1 - at);
      if (at < 0 || is_seen[at]) {
        waiting.pop_back();
        continue;
      }
      is_seen[at] = true;
      waiting.back() = -1 - at;
      inside_.each_successor(at, [&](int32_t, int32_t target) { visit(target); });
      const int32_t call = nfa_.call_of(at);
      if (call == kNone) continue;
      visit(nfa_.starts_[nfa_.rule_of(call)]);
      for (int32_t exit = 0; exit < nfa_.num_exits(nfa_.rule_of(call)); ++exit) {
        if (const int32_t target = nfa_.target_of(at, exit); target != kNone) visit(target);
      }
    }
    budget_.spend(16);
  }
  return order;
}

int32_t ExitDistances::rule_of(int32_t state) const {
  const int32_t outer = inside_.rest_of(nfa_.apart(state).state).state;
  return static_cast<int32_t>(std::ranges::upper_bound(nfa_.starts_, outer) - nfa_.starts_.begin()) - 1;
}

// Add a row for each outer state, with as many columns as its rule has exits.
void ExitDistances::add_rows() {
  const auto num_rules = static_cast<int32_t>(nfa_.starts_.size());
  for (int32_t state = 0; state < nfa_.starts_[0]; ++state) to_exit_.add_row(0, kFar);  // these are in no rule
  for (int32_t rule = 0; rule < num_rules; ++rule) {
    const auto columns = static_cast<size_t>(nfa_.num_exits(rule));
    const int32_t end = rule + 1 < num_rules ? nfa_.starts_[rule + 1] : nfa_.num_outer();
    for (int32_t state = nfa_.starts_[rule]; state < end; ++state) to_exit_.add_row(columns, kFar);
    most_exits_ = std::max(most_exits_, columns);
    budget_.spend(8 * static_cast<int64_t>(columns) * (end - nfa_.starts_[rule]));
  }
}

void ExitDistances::find_paths_to_exits() {
  add_rows();
  const Vector<int32_t> order = last_states_first();
  for (bool changed = true; changed;) {
    changed = false;
    forget_made();
    for (const int32_t state : order) {
      if (!has_flags_.empty() && has_flags_[state]) continue;
      changed = lower_by_arcs(to_exit_[state], state, 0, 0) || changed;
      budget_.spend(8 * static_cast<int64_t>(to_exit_[state].size()));
    }
  }
}

InsideDistances::Rest ExitDistances::outer_after(int32_t state) {
  const auto [own, flags] = nfa_.apart(state);
  const InsideDistances::Rest rest = inside_.rest_of(own);
  return {nfa_.with_flags(rest.state, flags), rest.more};
}

ExitDistances::ToExit ExitDistances::to_exit(int32_t state) {
  if (nfa_.is_detached(state)) {
    static constexpr int32_t kAtExit = 0;
    const bool is_end = state == nfa_.first_block_ - 1;
    return {{&kAtExit, 1}, is_end ? 0 : inside_.rest_of(state - nfa_.first_detached_ + nfa_.num_outer()).more};
  }
  const auto [outer, more] = outer_after(state);
  return {row_of(outer), more};
}

std::span<const int32_t> ExitDistances::row_of(int32_t outer) {
  if (!is_found_alone(outer)) return to_exit_[outer];
  const auto known = made_.find(outer);
  if (known == made_.end()) {
    try {
      find_made(outer);
    } catch (...) {
      forget_made();  // some rows are not complete
      throw;
    }
  }
  return made_rows_[made_.find(outer)->second];
}

int32_t ExitDistances::through(int32_t rule, int32_t exit) {
  const auto begins = machine_.members(machine_.rule_start(rule));
  int32_t least = kFar;
  for (const int32_t member : begins) {
    const auto [row, more] = to_exit(member);
    least = std::min(least, row[exit] + more);
  }
  budget_.spend(static_cast<int64_t>(begins.size()));
  return least;
}

void ExitDistances::forget_made() {
  made_.clear();
  followed_.clear();
  made_rows_.clear();
}

bool ExitDistances::is_found_alone(int32_t outer) const {
  return outer >= nfa_.num_outer() || (!has_flags_.empty() && has_flags_[outer]);
}

// Find the row of an outer state that is found alone, and those that it depends on. While an exit has not been reached,
// follow one more of the open guarded arcs. On a cycle, rows that are not complete count as far at first; then all rows
// are lowered until none changes.
void ExitDistances::find_made(int32_t state) {
  const size_t first = made_rows_.rows();
  bool meets_cycle = false;
  Vector<int32_t> waiting(1, state, budget_), next(budget_);
  while (!waiting.empty()) {
    const int32_t at = waiting.back(), row = advance_made(at);
    if (row == kNone) {
      waiting.pop_back();
      continue;
    }
    next.clear();
    each_next(at, followed_[row].num_arcs, [&](int32_t target) { next.push_back(outer_after(target).state); });
    for (const int32_t target : next) {
      if (!is_found_alone(target)) continue;
      const auto known = made_.find(target);
      if (known == made_.end()) {
        waiting.push_back(target);
      } else {
        meets_cycle = meets_cycle || !followed_[known->second].is_done;
      }
    }
    budget_.spend(32 + 8 * static_cast<int64_t>(next.size()));
  }
  if (meets_cycle) lower_made(first);
}

// Add a row for a state, or compute again the one that it has and follow one more arc; return the row, or kNone once it
// is done: all exits are reached, or no arc is left.
int32_t ExitDistances::advance_made(int32_t state) {
  const auto [place, is_new] = made_.try_emplace(state, static_cast<int32_t>(made_rows_.rows()));
  const int32_t row = place->second;
  if (is_new) {
    made_rows_.add_row(nfa_.num_exits(rule_of(state)), kFar);
    const auto before = num_followed_.find(state);
    followed_.push_back({state, before == num_followed_.end() ? 1 : before->second, false});
    return row;
  }
  if (followed_[row].is_done) return kNone;
  fill_made(row);
  if (!lacks_exit(row) || followed_[row].num_arcs >= num_open_arcs(state) || made_rows_.rows() >= kMaxMade) {
    followed_[row].is_done = true;
    return kNone;
  }
  num_followed_[state] = ++followed_[row].num_arcs;
  return row;
}

// Lower the rows from `first` on until none changes.
void ExitDistances::lower_made(size_t first) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto row = static_cast<int32_t>(made_rows_.rows()); row-- > static_cast<int32_t>(first);) {
      changed = fill_made(row) || changed;
      budget_.spend(32);
    }
  }
}

// Compute a row again from the rows that it depends on; return whether it has changed.
bool ExitDistances::fill_made(int32_t number) {
  const auto [own, flags] = nfa_.apart(followed_[number].state);
  Vector<int32_t> row(made_rows_[number].size(), kFar, budget_);
  lower_by_arcs(row, own, flags, followed_[number].num_arcs);
  const bool changes = !std::ranges::equal(row, made_rows_[number]);
  std::ranges::copy(row, made_rows_[number].begin());
  return changes;
}

// Return whether an exit that may be possible has not been reached by a row.
bool ExitDistances::lacks_exit(int32_t number) {
  const int32_t own = nfa_.apart(followed_[number].state).state;
  const auto row = made_rows_[number];
  for (int32_t exit = 0; exit < static_cast<int32_t>(row.size()); ++exit) {
    if (row[exit] >= kFar && possible_exits_[own] & exit_bit(exit)) return true;
  }
  return false;
}

int32_t ExitDistances::num_open_arcs(int32_t state) {
  const auto [own, flags] = nfa_.apart(state);
  return static_cast<int32_t>(
      std::ranges::count_if(nfa_.guarded_arcs(own), [&](const auto& arc) { return nfa_.is_open(arc, flags); }));
}

// Call a function with each state on whose row the row of a state depends.
template <class Visit>
void ExitDistances::each_next(int32_t state, int32_t num_arcs, Visit visit) {
  const auto [own, flags] = nfa_.apart(state);
  each_successor(own, flags, num_arcs, [&](int32_t, int32_t target) { visit(target); });
  const int32_t call = nfa_.call_of(state);
  if (call == kNone) return;
  const int32_t rule = nfa_.rule_of(call);
  for (const int32_t member : machine_.members(machine_.rule_start(rule))) visit(member);
  for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
    if (const int32_t target = nfa_.target_of(state, exit); target != kNone) visit(target);
  }
}

// Call a function with each state that follows an outer state with some flags, by the plain arcs and the first
// `num_arcs` open guarded arcs, and with how much is read before it.
template <class Visit>
void ExitDistances::each_successor(int32_t state, int32_t flags, int32_t num_arcs, Visit visit) {
  inside_.each_successor(state, [&](int32_t more, int32_t target) { visit(more, nfa_.with_flags(target, flags)); });
  for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
    if (num_arcs == 0) return;
    if (!nfa_.is_open(arc, flags)) continue;
    visit(0, nfa_.target_of(arc, flags));
    --num_arcs;
  }
}

bool ExitDistances::lower(std::span<int32_t> row, int32_t more, int32_t target) {
  const auto [from, after] = to_exit(target);
  bool changed = false;
  more += after;
  for (size_t exit = 0; exit < row.size(); ++exit) {
    if (from[exit] + more >= row[exit]) continue;
    row[exit] = from[exit] + more;
    changed = true;
  }
  return changed;
}

// Lower a row by everything that may follow an outer state; return whether it has changed.
bool ExitDistances::lower_by_arcs(std::span<int32_t> row, int32_t state, int32_t flags, int32_t num_arcs) {
  bool changed = false;
  if (const int32_t exit = nfa_.exit_of(state); exit != kNone) {
    int32_t& own = row[nfa_.exit_in_rule(exit)];
    changed = own > 0;
    own = 0;
  }
  const int32_t detour = nfa_.detour_of(state);
  each_successor(state, flags, num_arcs,
                 [&](int32_t more, int32_t target) { changed = lower(row, detour + more, target) || changed; });
  return lower_by_call(row, nfa_.with_flags(state, flags)) || changed;
}

bool ExitDistances::lower_by_call(std::span<int32_t> row, int32_t state) {
  const int32_t call = nfa_.call_of(state);
  if (call == kNone) return false;
  const int32_t rule = nfa_.rule_of(call);
  const int32_t detour = nfa_.detour_of(nfa_.apart(state).state);
  bool changed = false;
  for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
    const int32_t target = nfa_.target_of(state, exit);
    const int32_t least = through(rule, exit);
    if (target != kNone && least < kFar) changed = lower(row, detour + least, target) || changed;
  }
  return changed;
}

}  // namespace tokenfst
