#include "tokenfst/lazy/subsets.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "automata/visibly_pushdown/wanted_exits.h"

namespace tokenfst {

using automata::kNone;

namespace {

// In a row that is another one but for some classes, there are at most this many.
constexpr int64_t kMostDiffering = 8;
// From this many arcs on, those over a class are looked for several at once, as many as a word has bytes.
constexpr size_t kManyArcs = 64, kAtOnce = sizeof(uint64_t);

// The grammar as it is laid out, or with copies of rules if sets of states are exact only then.
LazyNfa nfa_of(const automata::VisiblyPushdownLayout& layout, Budget& budget) {
  LazyNfa nfa(layout, budget);
  if (nfa.is_exact() || !nfa.has_text()) return nfa;
  const auto copies = automata::by_wanted_exits(layout, nfa.fragments_with_text(), budget);
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
  if (!nfa_.has_text()) return;
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
  std::ranges::sort(sets_.open());
  if (only_reads) return kept(kNone, kNone);
  check_open();
  return kept(called(), ended());
}

// The set that is open.
int32_t SubsetMachine::kept(int32_t called, int32_t exit) {
  // First reserve room, then do what cannot throw.
  support::reserve_more(entries_, 1);
  support::reserve_more(returns_of_, 1);
  support::reserve_more(ends_, 1);
  support::reserve_more(steps_, 1);
  support::reserve_more(symbols_, 1);
  support::reserve_more(returns_, kNone < called && called < num_rules() ? nfa_.num_exits(called) : 0);
  table_.reserve_one();
  const auto [set, is_new] = sets_.close();
  if (is_new) add_set(set, called, exit);
  return set;
}

// Throw if some states of the open set call rules, or end them, and others do something else.
void SubsetMachine::check_open() {
  bool calls = false, ends = false, reads = false;
  for (int32_t state : sets_.open()) {
    const bool own_calls = nfa_.call_of(state) != kNone, own_ends = nfa_.exit_of(state) > 0;
    calls = calls || own_calls, ends = ends || own_ends, reads = reads || !(own_calls || own_ends);
  }
  if (calls + ends + reads > 1) {
    throw std::invalid_argument("where a rule is called, or ends, something else can be read");
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

// The number of the values that are being written, each once.
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

int32_t SubsetMachine::set_behind(int32_t state) {
  if (single_.has(state) && single_[state] != kDead) return single_[state];
  begin_gathering();
  if (nfa_.is_plain(state)) {
    sets_.discard();
    sets_.push(state);
    budget_.spend(8);
    return single_[state] = kept(kNone, kNone);
  }
  gather(state);
  const int32_t set = closed();
  return single_[state] = set;
}

// The entry for reading on from one state. The rest of a text that is read for flags is a call: the state after it is
// pushed.
int32_t SubsetMachine::entry_behind(int32_t state) {
  const auto [detached, after] = nfa_.detached(state);
  if (detached == kNone) return entries_[set_behind(state)];
  const int32_t set = set_behind(detached);
  support::reserve_more(steps_, 1);
  support::reserve_more(symbols_, 1);
  StackStep step;
  step.push_begin = static_cast<int32_t>(symbols_.size()), step.num_pushes = 1;
  step.target = set;
  symbols_.push_back(symbol_of_state(after));
  steps_.push_back(step);
  return entry_of(static_cast<int32_t>(steps_.size()) - 1);
}

// A member of a larger set that is also a set of its own whose row is known, kNone if there is none. Of several, the
// one with the greatest number is likeliest to be a loop over text: states inside copies come last.
int32_t SubsetMachine::member_with_row(int32_t set) const {
  const std::span<const int32_t> members = sets_[set];
  if (members.size() < 2) return kNone;
  for (size_t at = members.size(); at-- > 0;) {
    const int32_t state = members[at];
    if (!single_.has(state) || single_[state] == kDead) continue;
    if (sets_[single_[state]].size() == 1 && table_.is_known(single_[state])) return members[at];
  }
  return kNone;
}

void SubsetMachine::expand(int32_t set) {
  arcs_.clear();
  const int32_t known = member_with_row(set);
  // By number: arcs may make blocks, but no sets.
  for (int32_t state : sets_[set]) {
    if (state != known) nfa_.arcs_of(state, arcs_);
  }
  const size_t num_others = arcs_.size();
  int64_t width = 0;
  for (const ClassArc& arc : arcs_) width += arc.high - arc.low + 1;
  if (known != kNone) nfa_.arcs_of(known, arcs_);
  budget_.spend(16 + 8 * static_cast<int64_t>(arcs_.size()));
  const std::span<int32_t> row = table_.open();
  if (known != kNone && width <= kMostDiffering && num_others < arcs_.size() - num_others) {
    fill_from(single_[known], num_others, row);
  } else if (arcs_.size() >= kManyArcs) {
    fill_from_many(row);
  } else if (std::ranges::adjacent_find(arcs_, [](const ClassArc& one, const ClassArc& next) {
               return one.high >= next.low;
             }) == arcs_.end()) {
    fill_apart(row);
  } else {
    fill_row(row);
  }
  table_.keep(set);
}

// From arcs of which no two read the same class, ascending.
void SubsetMachine::fill_apart(std::span<int32_t> row) {
  std::ranges::fill(row, kDead);
  for (const ClassArc& arc : arcs_) {
    std::fill(row.begin() + arc.low, row.begin() + arc.high + 1, entry_behind(arc.target));
  }
}

// From the row of a set and the arcs of its state, which come last: only where other arcs begin does the row differ.
// The names of an object's members stand beside a loop over all other names, and differ from it in one byte each.
void SubsetMachine::fill_from(int32_t part, size_t num_others, std::span<int32_t> row) {
  std::ranges::copy(table_[part], row.begin());
  for (size_t arc = 0; arc < num_others; ++arc) {
    for (int32_t column = arcs_[arc].low; column <= arcs_[arc].high; ++column) row[column] = entry_over(column);
  }
}

void SubsetMachine::begin_reading() {
  begin_gathering();
  sets_.discard();
  only_read_ = true;
}

// Adds a state to those gathered, and to the open set, unless it is among them.
void SubsetMachine::read(int32_t state) {
  if (!marks_.has(state)) marks_.follow(nfa_);
  if (std::exchange(marks_[state], stamp_) == stamp_) return;
  gathered_.push_back(state);
  sets_.push(state);
  only_read_ = only_read_ && nfa_.is_plain(state);
}

// The entry for the states that were read. Where all of them only read, they are the set.
int32_t SubsetMachine::entry_read() {
  if (!only_read_) return entries_[closed()];
  budget_.spend(8 * static_cast<int64_t>(gathered_.size()));
  if (!std::ranges::is_sorted(sets_.open())) std::ranges::sort(sets_.open());
  return entries_[kept(kNone, kNone)];
}

// The entry for all arcs over a class.
int32_t SubsetMachine::entry_over(int32_t column) {
  begin_gathering();
  for (const ClassArc& arc : arcs_) {
    if (arc.low <= column && column <= arc.high) gather(arc.target);
  }
  return entries_[closed()];
}

// From many arcs: their bounds are written one after the other, so that those over a class are found several at once.
void SubsetMachine::fill_from_many(std::span<int32_t> row) {
  const size_t size = (arcs_.size() + kAtOnce - 1) / kAtOnce * kAtOnce;
  lows_.assign(size, 0xFF), highs_.assign(size, 0), over_.resize(size);
  differs_.assign(num_classes() + 1, false);
  for (size_t arc = 0; arc < arcs_.size(); ++arc) {
    lows_[arc] = static_cast<uint8_t>(arcs_[arc].low), highs_[arc] = static_cast<uint8_t>(arcs_[arc].high);
    differs_[arcs_[arc].low] = differs_[arcs_[arc].high + 1] = true;
  }
  int32_t entry = kDead;
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (differs_[column]) {
      begin_reading();
      read_over(static_cast<uint8_t>(column));
      entry = gathered_.empty() ? kDead : gathered_.size() == 1 ? entry_behind(gathered_[0]) : entry_read();
    }
    row[column] = entry;
  }
}

void SubsetMachine::read_over(uint8_t column) {
  const uint8_t *const lows = lows_.data(), *const highs = highs_.data();
  uint8_t* const over = over_.data();
  const size_t size = over_.size();
  for (size_t arc = 0; arc < size; ++arc) over[arc] = (lows[arc] <= column) & (column <= highs[arc]);
  for (size_t first = 0; first < size; first += kAtOnce) {
    uint64_t some;
    std::memcpy(&some, over + first, kAtOnce);
    for (; some != 0; some &= some - 1) {
      const size_t place = std::countr_zero(some) / 8;
      const bool is_first_lowest = std::endian::native == std::endian::little;
      read(arcs_[first + (is_first_lowest ? place : kAtOnce - 1 - place)].target);
    }
  }
}

// From the arcs: a class of bytes whose arcs all lead to one state leads to the set of that single state; and
// neighbours lead to the same set where no arc begins or ends between them.
void SubsetMachine::fill_row(std::span<int32_t> row) {
  std::ranges::fill(row, kDead);
  differs_.assign(num_classes() + 1, false);
  for (const ClassArc& arc : arcs_) {
    differs_[arc.low] = differs_[arc.high + 1] = true;
    for (int32_t column = arc.low; column <= arc.high; ++column) {
      row[column] = row[column] == kDead || row[column] == arc.target ? arc.target : kMixed;
    }
  }
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (row[column] == kDead) continue;
    if (!differs_[column]) {
      row[column] = row[column - 1];
    } else if (row[column] != kMixed) {
      row[column] = entry_behind(row[column]);
    } else {
      row[column] = entry_over(column);
    }
  }
}

int32_t SubsetMachine::returned(int32_t symbol, int32_t exit) {
  if (exit == kDetachedExit) return entries_[set_behind(state_of_symbol(symbol))];
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

// Gathers where the calls of a set continue after an exit of a rule that it calls.
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

int32_t SubsetMachine::alike(int32_t set, int32_t longest) {
  const auto misses_none = [&](int32_t state) { return nfa_.misses_none(state); };
  return std::ranges::all_of(sets_[set], misses_none) ? far_state(set, longest) : set;
}

int32_t SubsetMachine::one_further(int32_t set, int32_t next) {
  const std::span<const int32_t> members = sets_[set], others = sets_[next];
  if (members.empty() || members.size() != others.size()) return kDead;
  // Those that count come last.
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

bool SubsetMachine::is_free(int32_t set) {
  return std::ranges::any_of(sets_[set], [&](int32_t state) { return nfa_.is_free(state, budget_); });
}

size_t SubsetMachine::num_bytes() const {
  return Machine::num_bytes() + nfa_.num_bytes() +
         4 * (sets_.num_values() + 3 * sets_.size() + entries_.size() + returns_.size() + single_.size() +
              twins_.size());
}

}  // namespace tokenfst
