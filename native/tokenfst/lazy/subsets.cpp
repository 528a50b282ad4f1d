#include "tokenfst/lazy/subsets.h"

#include <algorithm>

#include "automata/visibly_pushdown/wanted_exits.h"

namespace tokenfst {

using automata::kNone;

namespace {

// The deferred entry of state 0; those of other states follow.
constexpr int32_t kFirstDeferred = kUnknownEntry + 1;

// Return the grammar as it is laid out, or with copies of rules if sets of states are exact only then.
LazyNfa nfa_of(const automata::VisiblyPushdownLayout& layout, Budget& budget) {
  LazyNfa nfa(layout, budget);
  if (nfa.is_exact() || !nfa.has_text()) return nfa;
  const auto copies = automata::by_wanted_exits(layout, budget);
  if (!copies) return nfa;
  const support::Charge held(budget, automata::num_bytes(*copies));
  return LazyNfa(*copies, budget);
}

}  // namespace

SubsetMachine::SubsetMachine(const automata::VisiblyPushdownLayout& layout, Budget& budget)
    : SubsetMachine(nfa_of(layout, budget), budget) {}

SubsetMachine::SubsetMachine(LazyNfa&& nfa, Budget& budget)
    : Machine(nfa.byte_class(), nfa.num_classes(), budget),
      nfa_(std::move(nfa)),
      budget_(budget),
      sets_(budget),
      entries_(budget),
      rule_sets_(budget),
      returns_of_(budget),
      returns_(budget),
      joint_calls_(budget),
      exits_(budget),
      joint_starts_(budget),
      returned_(budget),
      single_(kDead, budget),
      twins_(budget),
      marks_(0, budget),
      gathered_(budget),
      targets_(budget),
      differs_(budget),
      arcs_(budget),
      lows_(budget),
      highs_(budget),
      over_(budget) {
  make_starts();
}

void SubsetMachine::make_starts() {
  if (!nfa_.has_text()) return;
  start_ = kDead;  // steps that call lead to rules until all of them have begun
  for (int32_t start : nfa_.starts()) {
    begin_gathering();
    gather(start);
    rule_sets_.push_back(closed());
  }
  // Steps that call lead to the sets where rules begin, all of which exist now.
  for (StackStep& step : steps_) {
    if (step.num_pushes && step.target > kDead) step.target = rule_sets_[step.target];
  }
  start_ = rule_sets_[0];
}

void SubsetMachine::begin_gathering() {
  gathered_.clear();
  marks_.follow(nfa_);
  single_.follow(nfa_);
  if (++stamp_ == INT32_MAX) {
    marks_.reset();
    stamp_ = 1;
  }
}

void SubsetMachine::gather(int32_t state) {
  if (!marks_.has(state)) marks_.follow(nfa_);
  if (marks_[state] == stamp_) return;
  marks_[state] = stamp_;
  gathered_.push_back(state);
}

int32_t SubsetMachine::closed() {
  sets_.discard();
  bool only_reads = true;
  for (size_t at = 0; at < gathered_.size(); ++at) {
    const int32_t state = gathered_[at];
    targets_.clear();
    const bool is_plain = nfa_.is_plain(state);
    only_reads = only_reads && is_plain;
    if (!is_plain) nfa_.epsilon_of(state, targets_);
    for (int32_t target : targets_) gather(target);
    if (is_plain || nfa_.is_kept(state)) sets_.push(state);
    budget_.spend(8 + static_cast<int64_t>(targets_.size()));
  }
  if (!only_reads) check_open();
  if (sets_.open().size() == 1) return kept_single(sets_.open()[0], only_reads);
  if (!std::ranges::is_sorted(sets_.open())) std::ranges::sort(sets_.open());
  return only_reads ? kept(kNone, kNone) : kept(called(), ended());
}

// Close the open set and return its number. A new set gets an entry and a row, and a step if it calls or ends rules.
int32_t SubsetMachine::kept(int32_t called, int32_t exit) {
  // First reserve room, then do what cannot throw.
  reserve_set(called, exit);
  const auto [set, is_new] = sets_.close();
  if (is_new) add_set(set, called, exit);
  return set;
}

// The same for an open set of one state, which is looked up by that state.
int32_t SubsetMachine::kept_single(int32_t state, bool only_reads) {
  if (!single_.has(state)) single_.follow(nfa_);
  int32_t& set = single_[state];
  if (set != kDead) {
    sets_.discard();
    return set;
  }
  const int32_t calls = only_reads ? kNone : called(), exit = only_reads ? kNone : ended();
  reserve_set(calls, exit);
  set = sets_.close_unlisted();
  add_set(set, calls, exit);
  return set;
}

// Reserve room for one more set.
void SubsetMachine::reserve_set(int32_t called, int32_t exit) {
  support::reserve_more(entries_, 1);
  support::reserve_more(returns_of_, 1);
  support::reserve_more(ends_, 1);
  table_.reserve_one();
  if (called == kNone && exit == kNone) return;
  support::reserve_more(steps_, 1);
  support::reserve_more(symbols_, 1);
  support::reserve_more(returns_, kNone < called && called < num_rules() ? nfa_.num_exits(called) : 0);
}

// Throw if some states of the open set call rules, or end them, and others do something else.
void SubsetMachine::check_open() {
  bool calls = false, ends = false, reads = false;
  for (int32_t state : sets_.open()) {
    const bool own_calls = nfa_.call_of(state) != kNone, own_ends = nfa_.exit_of(state) > 0;
    calls = calls || own_calls, ends = ends || own_ends, reads = reads || !(own_calls || own_ends);
  }
  if (calls + ends + reads > 1) {
    throw NondeterministicRules();
  }
}

int32_t SubsetMachine::called() {
  int32_t rule = kNone;
  bool are_several = false;
  for (int32_t state : sets_.open()) {
    const int32_t call = nfa_.call_of(state);
    if (call == kNone) return kNone;
    const int32_t own = nfa_.rule_of(call);
    are_several = are_several || (rule != kNone && rule != own);
    rule = own;
  }
  if (!are_several) return rule;
  joint_calls_.discard();
  for (int32_t state : sets_.open()) joint_calls_.push(nfa_.rule_of(nfa_.call_of(state)));
  const int32_t number = numbered(joint_calls_);
  while (std::ssize(joint_starts_) <= number) joint_starts_.push_back(kDead);
  return num_rules() + number;
}

int32_t SubsetMachine::ended() {
  int32_t exit = kNone;
  bool are_several = false;
  for (int32_t state : sets_.open()) {
    const int32_t own = nfa_.exit_of(state);
    if (own <= 0) return kNone;
    are_several = are_several || (exit != kNone && exit != own);
    exit = own;
  }
  if (!are_several) return exit;
  exits_.discard();
  for (int32_t state : sets_.open()) exits_.push(nfa_.exit_of(state));
  return kSeveralExits + numbered(exits_);
}

// Sort the values that are being written, drop duplicates, and return the number of the result.
int32_t SubsetMachine::numbered(support::Interner<int32_t>& values) {
  std::ranges::sort(values.open());
  values.truncate(values.open().size() - std::ranges::unique(values.open()).size());
  return values.close().number;
}

void SubsetMachine::add_set(int32_t set, int32_t called, int32_t exit) {
  table_.add();
  ends_.push_back(kDead);
  returns_of_.push_back({0, 0});
  entries_.push_back(set);
  if (called == kNone && exit == kNone) {
    for (int32_t state : sets_[set]) {
      if (nfa_.exit_of(state) == 0) ends_[set] = 0;
    }
    return;
  }
  StackStep step;
  if (called != kNone) {
    // Push one symbol, the set itself.
    step.push_begin = static_cast<int32_t>(symbols_.size()), step.num_pushes = 1;
    symbols_.push_back(set);
    if (called >= num_rules()) {
      step.target = kDead - 1 - (called - num_rules());
      returns_of_[set] = {called - num_rules(), kSeveralRules};
    } else {
      step.target = static_cast<size_t>(called) < rule_sets_.size() && start_ != kDead ? rule_sets_[called] : called;
      returns_of_[set] = {static_cast<int32_t>(returns_.size()), nfa_.num_exits(called)};
      returns_.insert(returns_.end(), nfa_.num_exits(called), kUnknownEntry);
    }
  } else {
    step.exit = exit;
  }
  entries_[set] = entry_of(static_cast<int32_t>(steps_.size()));
  steps_.push_back(step);
}

int32_t SubsetMachine::made_target(int32_t step) {
  const int32_t number = kDead - 1 - steps_[step].target;
  if (joint_starts_[number] == kDead) {
    begin_gathering();
    for (int32_t rule : joint_calls_[number]) gather(nfa_.starts()[rule]);
    const int32_t set = closed();
    joint_starts_[number] = set;
  }
  return steps_[step].target = joint_starts_[number];
}

int32_t SubsetMachine::joint_call(int32_t set) const {
  const Returns own = returns_of_[set];
  return own.count == kSeveralRules ? own.begin : kNone;
}

int32_t SubsetMachine::set_of_state(int32_t state) {
  if (single_.has(state) && single_[state] != kDead) return single_[state];
  if (nfa_.is_plain(state)) {
    sets_.discard();
    sets_.push(state);
    budget_.spend(8);
    return kept_single(state, true);
  }
  begin_gathering();
  gather(state);
  const int32_t set = closed();
  return single_[state] = set;
}

// Return the entry for continuing at one state. A state with flags inside a chain is entered by a call of the detached
// chain, which pushes the state after it.
int32_t SubsetMachine::entry_of_state(int32_t state) {
  const auto [detached, after] = nfa_.detached(state);
  if (detached == kNone) return entries_[set_of_state(state)];
  const int32_t set = set_of_state(detached);
  support::reserve_more(steps_, 1);
  support::reserve_more(symbols_, 1);
  StackStep step;
  step.push_begin = static_cast<int32_t>(symbols_.size()), step.num_pushes = 1;
  step.target = set;
  symbols_.push_back(symbol_of_state(after));
  steps_.push_back(step);
  return entry_of(static_cast<int32_t>(steps_.size()) - 1);
}

int32_t SubsetMachine::deferred_entry(int32_t state) {
  const bool is_made = single_.has(state) && single_[state] != kDead;
  if (is_made || state > kLastDeferred - kFirstDeferred) return entry_of_state(state);
  return kFirstDeferred + state;
}

int32_t SubsetMachine::made_entry(int32_t deferred) { return entry_of_state(deferred - kFirstDeferred); }

int32_t SubsetMachine::returned(int32_t symbol, int32_t exit) {
  if (exit == kDetachedExit) return entries_[set_of_state(state_of_symbol(symbol))];
  const Returns own = returns_of_[symbol];
  if (own.count > 0 && exit < kSeveralExits) {
    const int32_t place = own.begin + nfa_.exit_in_rule(exit);
    if (returns_[place] == kUnknownEntry) {
      begin_gathering();
      gather_returns(symbol, exit);
      const int32_t entry = gathered_.empty() ? kDead : entries_[closed()];
      returns_[place] = entry;
    }
    return returns_[place];
  }
  const auto known = returned_.find({symbol, exit});
  if (known != returned_.end()) return known->second;
  begin_gathering();
  if (exit < kSeveralExits) {
    gather_returns(symbol, exit);
  } else {
    for (int32_t each : exits_[exit - kSeveralExits]) gather_returns(symbol, each);
  }
  const int32_t entry = gathered_.empty() ? kDead : entries_[closed()];
  return returned_.emplace(Returned{symbol, exit}, entry).first->second;
}

// Gather the states where the calls of a set continue after an exit of a rule that it calls.
void SubsetMachine::gather_returns(int32_t symbol, int32_t exit) {
  for (int32_t state : sets_[symbol]) {
    if (nfa_.rule_of(nfa_.call_of(state)) != nfa_.rule_of_exit(exit)) continue;
    const int32_t target = nfa_.target_of(state, nfa_.exit_in_rule(exit));
    if (target != kNone) gather(target);
  }
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

Machine::Alike SubsetMachine::alike(int32_t set) {
  if (!nfa_.counts()) return {set, 0};
  int32_t longest = INT32_MAX;
  for (const int32_t state : sets_[set]) longest = std::min(longest, nfa_.bytes_within(state));
  const int32_t far = longest ? far_state(set, longest) : set;
  return {far, far == set ? 0 : longest};
}

int32_t SubsetMachine::one_further(int32_t set, int32_t next) {
  const std::span<const int32_t> members = sets_[set], others = sets_[next];
  if (members.empty() || members.size() != others.size()) return kDead;
  // States that count come last.
  const size_t same = members.size() - 1;
  if (!std::ranges::equal(members.first(same), others.first(same))) return kDead;
  const int32_t further = nfa_.one_further(members.back(), others.back());
  if (further == kNone) return kDead;
  begin_gathering();
  for (const int32_t state : others.first(same)) gather(state);
  gather(further);
  return closed();
}

int32_t SubsetMachine::twin(int32_t set) {
  const int32_t number = sets_[set].size() == 1 ? nfa_.twin_number(sets_[set][0]) : kNone;
  if (number == kNone) return set;
  if (twins_.empty()) twins_.assign(nfa_.num_fragment_states(), kDead);
  if (twins_[number] == kDead) twins_[number] = set;
  return twins_[number];
}

size_t SubsetMachine::num_made_bytes() const {
  return table_.num_bytes() + sets_.num_bytes() + single_.num_made_bytes() + marks_.num_made_bytes() +
         support::bytes_of(entries_, returns_of_, returns_, ends_, steps_, symbols_) + nfa_.num_made_bytes();
}

std::unique_ptr<Machine> SubsetMachine::renewed() const {
  LazyNfa nfa = nfa_;
  nfa.forget_made_states();
  return std::unique_ptr<Machine>(new SubsetMachine(std::move(nfa), budget_));
}

void SubsetMachine::restart() {
  table_.clear();
  sets_.clear(), joint_calls_.clear(), exits_.clear();
  returned_.clear();
  support::drop(entries_, rule_sets_, returns_of_, returns_, ends_, steps_, symbols_, joint_starts_, twins_);
  nfa_.forget_made_states();
  single_.restart(), marks_.restart();
  make_starts();
}

// The size of the set, below 0 for a symbol that is a state; then its states.
void SubsetMachine::describe(int32_t number, Vector<int32_t>& out) const {
  if (is_state(number)) {
    out.push_back(-1);
    nfa_.describe(state_of_symbol(number), out);
    return;
  }
  out.push_back(static_cast<int32_t>(sets_[number].size()));
  for (const int32_t state : sets_[number]) nfa_.describe(state, out);
}

int32_t SubsetMachine::described(std::span<const int32_t>& description) {
  const int32_t size = Machine::described(description);
  if (size < 0) return symbol_of_state(nfa_.described(description));
  sets_.discard();
  for (int32_t left = size; left; --left) sets_.push(nfa_.described(description));
  budget_.spend(8 * int64_t{size});
  if (size == 1) return kept_single(sets_.open()[0], false);
  std::ranges::sort(sets_.open());
  return kept(called(), ended());
}

bool SubsetMachine::is_free(int32_t set) {
  return std::ranges::any_of(sets_[set], [&](int32_t state) { return nfa_.is_free(state); });
}

}  // namespace tokenfst
