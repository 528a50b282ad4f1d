#include "automata/assertions/subsets.h"

#include <algorithm>
#include <memory>

#include "support/csr.h"

namespace automata {

namespace {

constexpr int32_t kTrue = Conditions::kTrue, kFalse = Conditions::kFalse;

struct Reached {
  int32_t state, condition;
};

// States and the conditions under which they are reached, while they are being found.
class Found {
 public:
  Found(int32_t num_states, Budget& budget)
      : waiting(budget),
        condition_of_(num_states, kNone, budget),
        states_(budget) {}

  Vector<Reached> waiting;  // states and conditions that are still to be added

  std::span<const int32_t> states() const { return states_; }
  // Return the condition of a state; kFalse if it is not reached.
  int32_t operator[](int32_t state) const { return condition_of_[state] == kNone ? kFalse : condition_of_[state]; }
  // Add one more condition under which a state is reached; return whether it makes a difference.
  bool add(int32_t state, int32_t condition, Conditions& conditions) {
    const int32_t before = condition_of_[state];
    if (before == kNone) {
      states_.push_back(state);
      condition_of_[state] = condition;
      return true;
    }
    return before != condition && (condition_of_[state] = conditions.either(before, condition)) != before;
  }
  void clear() {
    for (const int32_t state : states_) condition_of_[state] = kNone;
    states_.clear();
  }

 private:
  Vector<int32_t> condition_of_, states_;
};

class Subsets {
 public:
  Subsets(const Skeleton& skeleton, int64_t max_states, Budget& budget)
      : skeleton_(skeleton),
        max_states_(max_states),
        budget_(budget),
        conditions_(budget),
        arcs_(support::grouped(
            skeleton.num_states, skeleton.arcs.size(), [&](size_t arc) { return skeleton.arcs[arc].source; }, budget)),
        jumps_(support::grouped(
            skeleton.num_states, skeleton.jumps.size(), [&](size_t jump) { return skeleton.jumps[jump].source; },
            budget)),
        is_end_of_lookahead_(skeleton.num_states, false, budget),
        is_timeless_(skeleton.assertions.size(), true, budget),
        behind_(skeleton.assertions.size(), kFalse, budget),
        readable_(skeleton.num_states, kNone, budget),
        stepped_(0, support::Hash(), std::equal_to<int64_t>(), budget),
        maps_(budget),
        entered_(skeleton.num_states, budget),
        own_(budget),
        here_(budget),
        used_(budget),
        by_symbol_(num_symbols(skeleton), Vector<Reached>(budget), budget),
        result_{Vector<int32_t>(1, 0, budget), Vector<OutArc>(budget), Vector<uint8_t>(budget)} {
    for (const Assertion& assertion : skeleton.assertions) {
      if (!assertion.is_behind) is_end_of_lookahead_[assertion.end] = true;
    }
    find_timeless();
  }

  CharacterAutomaton made() && {
    entered_.add(skeleton_.start, kTrue, conditions_);
    closed();
    entered_.clear();
    for (int32_t map = 0; map < maps_.size(); ++map) {
      support::require_at_most(map + 1, max_states_);
      expand(map);
    }
    return std::move(result_);
  }

 private:
  static size_t num_symbols(const Skeleton& skeleton) {
    const auto last = std::ranges::max_element(skeleton.arcs, {}, &Arc::symbol);
    return last == skeleton.arcs.end() ? 0 : static_cast<size_t>(last->symbol) + 1;
  }

  // Inner assertions come first.
  void find_timeless() {
    const auto owner = [&](size_t jump) { return skeleton_.owner[skeleton_.jumps[jump].source] + 1; };
    const auto num_assertions = static_cast<int32_t>(skeleton_.assertions.size());
    const auto by_owner = support::grouped(num_assertions + 1, skeleton_.jumps.size(), owner, budget_);
    for (int32_t number = 0; number < num_assertions; ++number) {
      for (const int32_t jump : by_owner[number + 1]) {
        const int32_t guard = skeleton_.jumps[jump].guard;
        if (guard == kNone) continue;
        const bool is_behind = skeleton_.assertions[guard / 2].is_behind != 0;
        if (is_behind || !is_timeless_[guard / 2]) is_timeless_[number] = false;
      }
    }
  }

  // Add the arcs of a state of the result, and make the states that they lead to.
  void expand(int32_t map) {
    const auto flat = maps_[map];
    own_.clear();
    for (size_t at = 0; at < flat.size(); at += 2) own_.push_back({flat[at], flat[at + 1]});
    int32_t at_end = kFalse;
    for (const auto [state, condition] : own_) {
      if (state == skeleton_.end) at_end = condition;
      step_from(state, condition);
    }
    result_.final.push_back(conditions_.holds_at_end(at_end));
    std::ranges::sort(used_);
    for (const int32_t symbol : used_) {
      bool reads_text = false;
      for (const auto [state, condition] : by_symbol_[symbol]) {
        entered_.add(state, condition, conditions_);
        reads_text = reads_text || skeleton_.owner[state] == kNone;
      }
      by_symbol_[symbol].clear();
      if (reads_text) result_.arcs.push_back({symbol, closed()});
      entered_.clear();
    }
    used_.clear();
    result_.offsets.push_back(static_cast<int32_t>(result_.arcs.size()));
  }

  // Note what each symbol leads to from a state that has been reached under a condition.
  void step_from(int32_t state, int32_t condition) {
    budget_.spend(4 + 4 * static_cast<int64_t>(arcs_[state].size()));
    int32_t symbol = kNone, after = kFalse;
    for (const int32_t arc : arcs_[state]) {
      if (skeleton_.arcs[arc].symbol != symbol) {
        symbol = skeleton_.arcs[arc].symbol;
        after = condition == kTrue ? kTrue : stepped(condition, symbol);
      }
      if (after == kFalse) continue;
      if (by_symbol_[symbol].empty()) used_.push_back(symbol);
      by_symbol_[symbol].push_back({skeleton_.arcs[arc].target, after});
    }
  }

  // Return the condition that is left once a symbol has been read.
  int32_t stepped(int32_t condition, int32_t symbol) {
    const int64_t key = int64_t{condition} << 32 | symbol;
    if (const auto known = stepped_.find(key); known != stepped_.end()) return known->second;
    const int32_t after = conditions_.replaced(condition, [&](int32_t bit) { return obligation_after(bit, symbol); });
    return stepped_[key] = after;
  }

  int32_t obligation_after(int32_t bit, int32_t symbol) {
    const bool is_negated = bit % 2 == 1;
    const auto own = arcs_[bit / 2];
    const auto symbol_of = [&](int32_t arc) { return skeleton_.arcs[arc].symbol; };
    const auto read = std::ranges::equal_range(own, symbol, {}, symbol_of);
    int32_t result = is_negated ? kTrue : kFalse;
    for (const int32_t arc : read) {
      const int32_t target = skeleton_.arcs[arc].target;
      if (is_end_of_lookahead_[target]) return is_negated ? kFalse : kTrue;
      const int32_t one = conditions_.obligation(2 * target + is_negated);
      result = is_negated ? conditions_.both(result, one) : conditions_.either(result, one);
    }
    return result;
  }

  // Return the state of the result for all that is reached at one place of a text, without reading more, from the
  // states entered there. States without arcs are left out, except the end of the text.
  int32_t closed() {
    for (const int32_t state : here_) readable_[state] = kNone;
    here_.clear();
    maps_.discard();
    own_.clear();
    Found& found = scratch();
    for (size_t number = 0; number < skeleton_.assertions.size(); ++number) {
      const Assertion& assertion = skeleton_.assertions[number];
      if (!assertion.is_behind) continue;
      enter(static_cast<int32_t>(number), found);
      spread_one(assertion.start, kTrue, found);
      behind_[number] = found[assertion.end];
      keep(found);
    }
    enter(kNone, found);
    keep(found);
    give_back();
    std::ranges::sort(own_, {}, &Reached::state);
    for (const auto [state, condition] : own_) {
      maps_.push(state);
      maps_.push(condition);
    }
    return maps_.close().number;
  }

  // Spread from the states entered in one automaton, with obligations from before in terms of the rest of the text.
  void enter(int32_t owner, Found& found) {
    for (const int32_t state : entered_.states()) {
      if (skeleton_.owner[state] != owner) continue;
      const auto replace = [&](int32_t bit) {
        const int32_t readable = readable_from(bit / 2);
        return bit % 2 == 1 ? conditions_.negation(readable) : readable;
      };
      const int32_t before = entered_[state];
      const int32_t condition = before == kTrue ? kTrue : conditions_.replaced(before, replace);
      if (condition != kFalse) spread_one(state, condition, found);
    }
  }

  void keep(Found& found) {
    for (const int32_t state : found.states()) {
      if (!arcs_[state].empty() || state == skeleton_.end) own_.push_back({state, found[state]});
    }
    found.clear();
  }

  // Add what jumps lead to from a state.
  void spread_one(int32_t entered, int32_t under, Found& found) {
    found.waiting.push_back({entered, under});
    while (!found.waiting.empty()) {
      const auto [state, condition] = found.waiting.back();
      found.waiting.pop_back();
      budget_.spend(4 + 4 * static_cast<int64_t>(jumps_[state].size()));
      if (!found.add(state, condition, conditions_)) continue;
      for (const int32_t number : jumps_[state]) {
        const GuardedJump& jump = skeleton_.jumps[number];
        const int32_t passed = jump.guard == kNone ? condition : conditions_.both(condition, holds(jump.guard));
        if (passed != kFalse) found.waiting.push_back({jump.target, passed});
      }
    }
  }

  int32_t holds(int32_t guard) {
    const Assertion& assertion = skeleton_.assertions[guard / 2];
    const int32_t condition = assertion.is_behind ? behind_[guard / 2] : readable_from(assertion.start);
    return guard % 2 == 1 ? conditions_.negation(condition) : condition;
  }

  // When the rest of the text can be read from a state of a lookahead, in terms of states that have arcs.
  int32_t readable_from(int32_t state) {
    if (readable_[state] != kNone) return readable_[state];
    const Assertion& assertion = skeleton_.assertions[skeleton_.owner[state]];
    Found& found = scratch();
    spread_one(state, kTrue, found);
    int32_t result = found[assertion.end];
    for (const int32_t other : found.states()) {
      if (other == assertion.end || arcs_[other].empty()) continue;
      const int32_t can_read = conditions_.obligation(2 * other);
      result = conditions_.either(result, conditions_.both(found[other], can_read));
    }
    found.clear();
    give_back();
    // With a lookbehind in it, that is true of this place alone.
    if (!is_timeless_[skeleton_.owner[state]]) here_.push_back(state);
    return readable_[state] = result;
  }

  // Scratch for the current spreads, which are nested.
  Found& scratch() {
    if (depth_ == scratch_.size()) scratch_.push_back(std::make_unique<Found>(skeleton_.num_states, budget_));
    return *scratch_[depth_++];
  }
  void give_back() { --depth_; }

  const Skeleton& skeleton_;
  const int64_t max_states_;
  Budget& budget_;
  Conditions conditions_;
  const support::Groups arcs_, jumps_;  // by source
  Vector<uint8_t> is_end_of_lookahead_;
  Vector<uint8_t> is_timeless_;  // by assertion: whether it holds no lookbehind
  Vector<int32_t> behind_;       // by assertion that looks back: when it holds here
  Vector<int32_t> readable_;     // by state of a lookahead, kNone if it has not been asked for
  support::Map<int64_t, int32_t, support::Hash> stepped_;
  support::Interner<int32_t> maps_;  // states and conditions in turn
  Found entered_;
  Vector<Reached> own_;
  Vector<int32_t> here_;  // the states whose `readable_` is for this place alone
  Vector<int32_t> used_;  // symbols
  Vector<Vector<Reached>> by_symbol_;
  std::vector<std::unique_ptr<Found>> scratch_;
  size_t depth_ = 0;
  CharacterAutomaton result_;
};

}  // namespace

CharacterAutomaton subsets(const Skeleton& skeleton, int64_t max_states, Budget& budget) {
  return Subsets(skeleton, max_states, budget).made();
}

}  // namespace automata
