#include "automata/pushdown/rule_tables.h"

#include "automata/arc_rows.h"
#include "automata/canonical.h"
#include "automata/determinize.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "automata/state_numbering.h"

namespace automata {

namespace {

constexpr int32_t kLast = 1;

// The states of minimal transitions, numbered rule by rule.
class RuleNumbering {
 public:
  RuleNumbering(Minimal&& minimal, int32_t num_blocks, int32_t num_rules, Budget& budget)
      : states(minimal.automaton.num_states(), budget),
        rows_(arc_rows(minimal.automaton.num_states(), std::move(minimal.automaton.arcs), budget)),
        start_(minimal.start),
        num_blocks_(num_blocks),
        num_rules_(num_rules) {}

  int32_t label(const Arc& arc) const { return arc.symbol - num_blocks_; }
  bool is_end(const Arc& arc) const { return num_rules_ <= label(arc) && label(arc) < 2 * num_rules_; }
  std::span<const Arc> arcs(int32_t state) const { return rows_[states.order[state]]; }

  // Number the states of all rules, and store where each rule begins.
  void number_all(RuleTables& found, Budget& budget) {
    found.rule_start.assign(num_rules_, kNone);
    if (start_ == kNone) return;
    for (const Arc& begin : rows_[start_]) {
      const int32_t rule = label(begin);
      size_t at = states.order.size();
      states.reach(begin.target);
      found.rule_start[rule] = states.number[begin.target];
      for (; at < states.order.size(); ++at) {
        found.rule_of.push_back(rule);
        for (const Arc& arc : rows_[states.order[at]]) {
          if (!is_end(arc)) states.reach(arc.target);
        }
        budget.spend(1 + static_cast<int64_t>(rows_[states.order[at]].size()));
      }
    }
  }

  StateNumbering states;

 private:
  const ArcRows rows_;
  const int32_t start_, num_blocks_, num_rules_;
};

}  // namespace

RuleTables rule_tables(const RuleParts& parts, int64_t max_states, Budget& budget) {
  Minimal minimal{kNone, Transitions(budget)};
  Vector<int32_t> interval_of(budget);
  {
    Intervals over = over_intervals(parts.ranges, parts.num_labels, budget);
    const Nfa nfa{parts.num_states, over.num_symbols(), over.arcs, parts.epsilon, kLast};
    minimal = minimize(determinize(nfa, max_states, budget), budget);
    interval_of = std::move(over.of);
  }
  const int32_t num_blocks = interval_of[255] + 1;
  RuleTables found;
  RuleNumbering numbering(std::move(minimal), num_blocks, parts.num_rules, budget);
  numbering.number_all(found, budget);
  const auto num_states = static_cast<int32_t>(numbering.states.order.size());
  support::Matrix<int32_t> table(num_states, num_blocks, kNone, budget);
  for (int32_t state = 0; state < num_states; ++state) {
    for (const Arc& arc : numbering.arcs(state)) {
      const int32_t label = numbering.label(arc);
      if (label < 0) {
        table[state][arc.symbol] = numbering.states.number[arc.target];
      } else {
        found.others.push_back({state, label, numbering.is_end(arc) ? kNone : numbering.states.number[arc.target]});
      }
    }
    budget.spend(num_blocks);
  }
  budget.charge(sizeof(int32_t) * (table.values().size() + 2 * found.rule_of.size()) +
                sizeof(Arc) * found.others.size());
  ByteTables classes;
  merge_columns(interval_of, table, classes, budget);
  found.byte_class = classes.byte_class, found.num_classes = classes.num_classes;
  found.next = std::move(classes.next);
  return found;
}

}  // namespace automata
