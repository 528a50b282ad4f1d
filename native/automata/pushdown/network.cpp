#include "automata/pushdown/network.h"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "automata/pushdown/element_sets.h"
#include "automata/pushdown/headroom.h"
#include "support/value_interner.h"

namespace automata {

namespace {

// Return all keys, each before those that its edges lead to, except on cycles.
Vector<int32_t> sources_first(const NumberLists& edges, Budget& budget) {
  Vector<uint8_t> seen(edges.size(), false, budget);
  Vector<int32_t> found(budget), waiting(budget);
  for (auto key = static_cast<int32_t>(edges.size()); key-- > 0;) {
    waiting.push_back(key);
    while (!waiting.empty()) {
      const int32_t at = waiting.back();
      waiting.pop_back();
      if (at < 0) {
        found.push_back(-1 - at);
      } else if (!seen[at]) {
        seen[at] = true;
        waiting.push_back(-1 - at);
        for (int32_t target : edges[at]) waiting.push_back(target);
        budget.spend(1 + static_cast<int64_t>(edges[at].size()));
      }
    }
  }
  std::ranges::reverse(found);
  return found;
}

// Return the keys that can be reached along edges from `first`, including itself, ascending.
Vector<int32_t> reached(const NumberLists& edges, int32_t first, Budget& budget) {
  Vector<uint8_t> seen(edges.size(), false, budget);
  Vector<int32_t> found(1, first, budget);
  seen[first] = true;
  for (size_t at = 0; at < found.size(); ++at) {
    budget.spend(1 + static_cast<int64_t>(edges[found[at]].size()));
    for (int32_t target : edges[found[at]]) {
      if (seen[target]) continue;
      seen[target] = true;
      found.push_back(target);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

PushdownNetwork::PushdownNetwork(const RuleNetwork& network, Stacks& stacks, ColumnSets& sets, Budget& budget)
    : stacks_(stacks),
      sets_(sets),
      budget_(budget),
      num_lazy_(network.num_lazy),
      end_column_(network.num_classes),
      start_(network.rule_start[network.start_rule]),
      rule_of_(network.rule_of.begin(), network.rule_of.end(), budget),
      rule_start_(network.rule_start.begin(), network.rule_start.end(), budget),
      lexer_(network.lexer.begin(), network.lexer.end(), budget),
      final_(network.final.begin(), network.final.end(), budget),
      returns_at_once_(budget),
      is_plain_(budget),
      in_words_(network.in_words.begin(), network.in_words.end(), budget),
      is_after_label_(network.rule_of.size(), false, budget),
      call_offsets_(network.call_offsets.begin(), network.call_offsets.end(), budget),
      word_offsets_(network.word_offsets.begin(), network.word_offsets.end(), budget),
      calls_(network.calls.begin(), network.calls.end(), budget),
      words_(network.words.begin(), network.words.end(), budget),
      under_(budget),
      tail_(budget),
      at_bottom_(budget),
      go_(0, 0, kNone, budget),
      columns_(budget),
      first_(budget),
      first_inside_(budget),
      first_outside_(budget),
      closures_(budget),
      leaves_(budget) {
  for (const int32_t target : network.by_label) {
    if (target != kNone) is_after_label_[target] = true;
  }
  sort_rows();
  find_returns(network);
  find_callers();
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    if (!at_bottom_[rule] || under_[rule].empty()) continue;
    call_start_rule(network.start_rule);
    find_callers();
    break;
  }
  end_state_ = num_states();
  add_state(network.start_rule);
  write_table(network);
  for (int32_t state = 0; state < num_states(); ++state) {
    const bool can_continue = final_[state] && !under_[rule_of_[state]].empty();
    is_plain_.push_back(calls(state).empty() && words(state).empty() && !can_continue);
  }
  closures_.resize(num_states());
  has_several_lexers_ =
      !words_.empty() && std::ranges::any_of(lexer_, [&](int32_t lexer) { return lexer != lexer_.front(); });
  find_first();
  find_first_by_lexer();
}

void PushdownNetwork::sort_rows() {
  for (size_t state = 0; state + 1 < call_offsets_.size(); ++state) {
    const std::span calls(calls_.begin() + call_offsets_[state], calls_.begin() + call_offsets_[state + 1]);
    std::ranges::sort(calls, {}, [](const RuleCall& call) { return std::pair(call.rule, call.back); });
    const std::span words(words_.begin() + word_offsets_[state], words_.begin() + word_offsets_[state + 1]);
    std::ranges::sort(words, {}, [](const WordEnd& end) { return std::pair(end.word, end.target); });
    budget_.spend(4 + 8 * static_cast<int64_t>(calls.size() + words.size()));
  }
}

// Find the states that end their rule and do nothing else.
void PushdownNetwork::find_returns(const RuleNetwork& network) {
  const auto goes = [](int32_t target) { return target != kNone; };
  const auto classes = static_cast<size_t>(network.num_classes), labels = static_cast<size_t>(network.num_labels);
  for (int32_t state = 0; state < num_states(); ++state) {
    const bool moves = std::ranges::any_of(network.next.subspan(state * classes, classes), goes) ||
                       std::ranges::any_of(network.by_label.subspan(state * labels, labels), goes);
    returns_at_once_.push_back(final_[state] && !moves && calls(state).empty() && words(state).empty());
    budget_.spend(4 + static_cast<int64_t>(classes + labels));
  }
}

void PushdownNetwork::add_state(int32_t rule) {
  rule_of_.push_back(rule);
  final_.push_back(false);
  returns_at_once_.push_back(false);
  is_after_label_.push_back(false);
  call_offsets_.push_back(call_offsets_.back());
  word_offsets_.push_back(word_offsets_.back());
}

int32_t PushdownNetwork::add_reader(int32_t rule, std::span<const int32_t> row) {
  add_state(rule);
  go_.add_row(kNone);
  std::ranges::copy(row, go_[go_.rows() - 1].begin());
  columns_.push_back(sets_.of(row));
  is_plain_.push_back(true);
  closures_.emplace_back();
  budget_.spend(static_cast<int64_t>(row.size()));
  return num_states() - 1;
}

void PushdownNetwork::call_start_rule(int32_t start_rule) {
  const int32_t rule = num_rules();
  start_ = num_states();
  add_state(rule);
  calls_.push_back({start_rule, start_ + 1});
  ++call_offsets_.back();
  add_state(rule);
  final_.back() = true;
  rule_start_.push_back(start_);
  in_words_.push_back(true);
  lexer_.push_back(lexer_[start_rule]);
}

void PushdownNetwork::find_callers() {
  const Vector<int32_t> none(budget_);
  under_.assign(num_rules(), none), tail_.assign(num_rules(), none);
  for (int32_t state = 0; state < num_states(); ++state) {
    for (const auto& [rule, back] : calls(state)) {
      if (returns_at_once_[back]) {
        tail_[rule_of_[state]].push_back(rule);
      } else {
        under_[rule].push_back(back);
      }
    }
    budget_.spend(1 + static_cast<int64_t>(calls(state).size()));
  }
  for (auto* lists : {&under_, &tail_}) {
    for (Vector<int32_t>& list : *lists) sort_unique(list);
  }
  at_bottom_.assign(num_rules(), false);
  at_bottom_[rule_of_[start_]] = true;
  const Vector<int32_t> order = sources_first(tail_, budget_);
  for (bool changed = true; changed;) {
    changed = false;
    Vector<uint8_t> is_done(num_rules(), false, budget_);
    for (const int32_t rule : order) {
      is_done[rule] = true;
      for (const int32_t called : tail_[rule]) {
        budget_.spend(1 + static_cast<int64_t>(under_[rule].size() + under_[called].size()));
        const bool is_lower = at_bottom_[rule] && !at_bottom_[called];
        at_bottom_[called] |= at_bottom_[rule];
        const bool has_more = called != rule && include(under_[called], under_[rule]);
        changed = changed || ((has_more || is_lower) && is_done[called]);
      }
    }
  }
}

void PushdownNetwork::write_table(const RuleNetwork& network) {
  const int32_t end_column = network.num_classes;
  go_ = support::Matrix<int32_t>(num_states(), end_column + 1 + network.num_labels, kNone, budget_);
  for (int32_t state = 0; state < num_states(); ++state) {
    const auto row = go_[state];
    if (state < network.num_states) {
      std::ranges::copy(network.next.subspan(static_cast<size_t>(state) * end_column, end_column), row.begin());
      std::ranges::copy(network.by_label.subspan(static_cast<size_t>(state) * network.num_labels, network.num_labels),
                        row.begin() + end_column + 1);
    }
    if (final_[state] && at_bottom_[rule_of_[state]]) row[end_column] = end_state_;
    columns_.push_back(sets_.of(row));
    budget_.spend(static_cast<int64_t>(row.size()));
  }
}

Vector<int32_t> PushdownNetwork::called_last(int32_t rule) const { return reached(tail_, rule, budget_); }

PushdownNetwork::Closure PushdownNetwork::closure(int32_t state) {
  if (closures_[state].begin == kNone) closures_[state] = find_closure(state);
  const Known& known = closures_[state];
  return {{leaves_.data() + known.begin, leaves_.data() + known.end}, known.ends};
}

PushdownNetwork::Known PushdownNetwork::find_closure(int32_t state) {
  Known found{static_cast<int32_t>(leaves_.size()), 0, false};
  const auto visit = [&](int32_t pushed, int32_t at) {
    if (columns_[at] != ColumnSets::kEmpty || !words(at).empty()) leaves_.push_back({pushed, at, columns_[at]});
  };
  if (calls(state).empty() && !final_[state]) {
    visit(Stacks::kEmpty, state);
  } else {
    support::ValueInterner<Element> seen(budget_);
    Vector<Element> todo(1, Element{Stacks::kEmpty, state}, budget_);
    while (!todo.empty()) {
      const Element place = todo.back();
      todo.pop_back();
      if (!seen.intern(place).is_new) continue;
      visit(place.stack, place.state);
      for (const auto& [rule, back] : calls(place.state)) {
        const int32_t pushed = returns_at_once_[back] ? place.stack : stacks_.push(back, place.stack);
        todo.push_back({pushed, rule_start_[rule]});
      }
      if (final_[place.state] && place.stack == Stacks::kEmpty) found.ends = true;
      if (final_[place.state] && place.stack != Stacks::kEmpty) {
        todo.push_back({stacks_[place.stack].below, stacks_[place.stack].symbol});
      }
      budget_.spend(8 + 8 * static_cast<int64_t>(calls(place.state).size()));
    }
  }
  found.end = static_cast<int32_t>(leaves_.size());
  found.ends = found.ends && !under_[rule_of_[state]].empty();
  return found;
}

// Return the columns with which the text may continue at a state, and the rules whose callers may continue as well.
PushdownNetwork::Reads PushdownNetwork::reads(int32_t state) {
  Reads found{ColumnSets::kEmpty, Vector<int32_t>(budget_)};
  Vector<int32_t> todo(1, state, budget_);
  support::ValueInterner<int32_t> seen(budget_);
  seen.intern(state);
  const auto reach = [&](int32_t other) {
    const bool is_new = seen.intern(other).is_new;
    if (is_new) todo.push_back(other);
    return is_new;
  };
  while (!todo.empty()) {
    const int32_t at = todo.back();
    todo.pop_back();
    const Closure reached = closure(at);
    if (reached.ends) found.rules.push_back(rule_of_[at]);
    for (const Leaf& leaf : reached.leaves) {
      found.columns = sets_.either(found.columns, leaf.columns);
      bool some_new = false;
      for (const WordEnd& end : words(leaf.state)) some_new |= reach(end.target);
      // The rule that ends there may have been called within the closure.
      for (int32_t cell = leaf.pushed; some_new && cell != Stacks::kEmpty; cell = stacks_[cell].below) {
        reach(stacks_[cell].symbol);
      }
      budget_.spend(8);
    }
  }
  sort_unique(found.rules);
  return found;
}

void PushdownNetwork::find_first() {
  first_.assign(num_rules(), ColumnSets::kEmpty);
  // By rule, the rules whose texts may continue with whatever follows it.
  NumberLists readers(num_rules(), Vector<int32_t>(budget_), budget_);
  // By symbol, the columns and the rules that `reads` finds.
  support::ValueInterner<int32_t> symbols(budget_);
  Vector<Reads> found(budget_);
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    Vector<int32_t> after(budget_);
    for (int32_t symbol : under_[rule]) {
      const auto [number, is_new] = symbols.intern(symbol);
      if (is_new) found.push_back(reads(symbol));
      first_[rule] = sets_.either(first_[rule], found[number].columns);
      budget_.spend(8 + static_cast<int64_t>(after.size() + found[number].rules.size()));
      include(after, found[number].rules);
    }
    for (int32_t other : after) readers[other].push_back(rule);
  }
  pass_on(first_, readers);
}

void PushdownNetwork::find_first_by_lexer() {
  first_inside_.assign(num_rules(), ColumnSets::kEmpty);
  first_outside_.assign(num_rules(), ColumnSets::kEmpty);
  if (!has_several_lexers_) return;
  NumberLists readers(num_rules(), Vector<int32_t>(budget_), budget_);
  for (int32_t rule = 0; rule < num_rules(); ++rule) {
    for (const int32_t symbol : under_[rule]) {
      const int32_t caller = rule_of_[symbol];
      budget_.spend(8);
      if (lexer_[caller] != lexer_[rule]) {
        // What follows is outside until the text ends.
        const Reads found = reads(symbol);
        first_outside_[rule] = sets_.either(first_outside_[rule], found.columns);
        for (const int32_t other : found.rules) {
          first_outside_[rule] = sets_.either(first_outside_[rule], first_[other]);
        }
        continue;
      }
      const Closure reached = closure(symbol);
      for (const Leaf& leaf : reached.leaves) {
        int32_t& first = lexer(leaf.state) == lexer_[rule] ? first_inside_[rule] : first_outside_[rule];
        first = sets_.either(first, leaf.columns);
        budget_.spend(8);
      }
      if (reached.ends) include(readers[caller], rule);
    }
  }
  pass_on(first_inside_, readers);
  pass_on(first_outside_, readers);
}

// Pass on the columns of each rule to those that read whatever follows it.
void PushdownNetwork::pass_on(Vector<int32_t>& first, const NumberLists& readers) {
  Vector<int32_t> todo(num_rules(), budget_);
  std::iota(todo.begin(), todo.end(), 0);
  while (!todo.empty()) {
    const int32_t rule = todo.back();
    todo.pop_back();
    for (int32_t reader : readers[rule]) {
      const int32_t together = sets_.either(first[reader], first[rule]);
      if (together != first[reader]) todo.push_back(reader);
      first[reader] = together;
    }
    budget_.spend(4 + 4 * static_cast<int64_t>(readers[rule].size()));
  }
}

Vector<int32_t> PushdownNetwork::headrooms() const {
  Vector<Edge> edges(budget_);
  Vector<PushingCall> pushing(budget_);
  Vector<int32_t> ends(budget_);
  for (int32_t state = 0; state < num_states(); ++state) {
    int32_t before = kNone;
    for (int32_t target : go_[state]) {
      if (target != kNone && target != before) edges.push_back({state, target});
      before = target == kNone ? before : target;
    }
    for (const WordEnd& end : words(state)) edges.push_back({state, end.target});
    for (const auto& [rule, back] : calls(state)) {
      pushing.push_back({state, rule_start_[rule], back, !returns_at_once_[back]});
    }
    if (final_[state] || state == end_state_) ends.push_back(state);
    budget_.spend(static_cast<int64_t>(go_.columns()));
  }
  return automata::headrooms(num_states(), edges, pushing, ends, budget_);
}

}  // namespace automata
