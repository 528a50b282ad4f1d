#include "automata/visibly_pushdown/assembly.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "automata/column_classes.h"
#include "support/csr.h"

namespace automata {

namespace {

// Whether a state only reads bytes and labels, is a call, or is an end of its rule; its last symbol decides.
enum class StateRole { kPlain, kCall, kEnd };

constexpr int64_t kMaxSteps = int64_t{1} << 30;

class StateSearch {
 public:
  StateSearch(const DeterministicRules& rules, Budget& budget)
      : found{{},
              Vector<int32_t>(rules.rows.num_states(), kNone, budget),
              Vector<int32_t>(budget),
              Vector<int32_t>(rules.rows.num_states(), kNone, budget),
              Vector<CallSymbol>(budget),
              support::Matrix<int32_t>(0, most_exits(rules.symbols), kNone, budget),
              Vector<int32_t>(rules.symbols.num_rules, kNone, budget)},
        rows_(rules.rows),
        symbols_(rules.symbols),
        rule_of_(budget),
        budget_(budget) {
    for (const Arc& arc : rows_[rules.start]) found.rule_start[arc.symbol - symbols_.first_start()] = arc.target;
  }

  void run() {
    reach(found.rule_start[0], 0);
    for (size_t at = 0; at < found.states.size() && found.fault.kind == FaultKind::kNone; ++at) {
      expand(found.states[at], rule_of_[at]);
    }
  }

  AssembledStates found;

 private:
  static size_t most_exits(const RuleSymbols& symbols) {
    int32_t most = 1;
    for (int32_t rule = 0; rule < symbols.num_rules; ++rule) most = std::max(most, symbols.num_exits(rule));
    return most;
  }
  void reach(int32_t state, int32_t rule) {
    if (found.number[state] != kNone) return;
    found.number[state] = static_cast<int32_t>(found.states.size());
    found.states.push_back(state);
    rule_of_.push_back(rule);
  }
  void note(FaultKind fault, int32_t rule, int32_t other) {
    if (found.fault.kind == FaultKind::kNone) found.fault = {fault, rule, other};
  }
  StateRole kind(int32_t state) const {
    const int32_t last = rows_[state].back().symbol;
    return last >= symbols_.first_exit()   ? StateRole::kEnd
           : last >= symbols_.first_call() ? StateRole::kCall
                                           : StateRole::kPlain;
  }
  // Return the symbol before the last one of a state, kNone if there is only one.
  int32_t other_symbol(int32_t state) const {
    const auto row = rows_[state];
    return row.size() > 1 ? row[row.size() - 2].symbol : kNone;
  }

  void expand(int32_t state, int32_t rule) {
    int32_t before = kNone;
    for (const Arc& arc : rows_[state]) {
      if (arc.symbol >= symbols_.first_exit()) {
        if (rule != 0) note(FaultKind::kAtOnce, rule, rule);
      } else if (arc.symbol >= symbols_.first_start()) {
        note(FaultKind::kAtOnce, rule, arc.symbol - symbols_.first_call());
      } else if (arc.target != before) {
        read(arc.target, rule);
      }
      before = arc.target;
      if (found.fault.kind != FaultKind::kNone) return;
    }
    budget_.spend(1 + 2 * static_cast<int64_t>(rows_[state].size()));
  }
  // Reach the place that a byte or a label leads to.
  void read(int32_t reached, int32_t rule) {
    const StateRole reads = kind(reached);
    const int32_t other = other_symbol(reached);
    if (reads == StateRole::kPlain) {
      reach(reached, rule);
    } else if (reads == StateRole::kCall) {
      const int32_t callee = rows_[reached].back().symbol - symbols_.first_call();
      if (other != kNone) {
        note(other >= symbols_.first_call() ? FaultKind::kTwoRules : FaultKind::kReadOn, callee,
             std::max(other - symbols_.first_call(), kNone));
        return;
      }
      note_symbol(rows_[reached].front().target, {callee, rule});
      reach(found.rule_start[callee], callee);
    } else if (rule != 0) {
      if (other != kNone) note(other >= symbols_.first_exit() ? FaultKind::kTwoExits : FaultKind::kReadOn, rule, rule);
    } else {
      reach(reached, rule);
    }
  }
  // Make the state after a call a symbol, and reach the states after its exits.
  void note_symbol(int32_t follows, CallSymbol symbol) {
    if (found.symbol_of[follows] != kNone) return;
    const size_t number = found.symbols.size();
    found.symbol_of[follows] = static_cast<int32_t>(number);
    found.symbols.push_back(symbol);
    found.returns.add_row(kNone);
    for (const Arc& arc : rows_[follows]) {
      const int32_t exit = arc.symbol - symbols_.first_exit() - symbols_.exit_offsets[symbol.callee];
      found.returns[number][exit] = arc.target;
      reach(arc.target, symbol.caller);
    }
  }

  const ArcRows& rows_;
  const RuleSymbols& symbols_;
  Vector<int32_t> rule_of_;  // [N]
  Budget& budget_;
};

// Writes steps in three passes over the states: which bytes are distinguished, how many steps there are, and the steps.
class StepWriter {
 public:
  StepWriter(const DeterministicRules& rules, const AssembledStates& states, Budget& budget)
      : found(budget),
        rows_(rules.rows),
        states_(states),
        symbols_(rules.symbols),
        row_(rules.symbols.first_start(), kNone, budget),
        class_column_(budget),
        calls_of_(support::grouped(
            symbols_.num_rules, states.symbols.size(), [&](size_t s) { return states.symbols[s].callee; }, budget)),
        exits_(budget),
        budget_(budget) {
    find_classes(rules.interval_of);
    for (int32_t rule = 0; rule < symbols_.num_rules; ++rule) {
      for (int32_t exit = 0; exit < symbols_.num_exits(rule); ++exit)
        exits_.push_back({rule, exit, num_returns(rule, exit)});
    }
  }

  void write() {
    const size_t num_states = states_.states.size() + 1;
    budget_.charge(sizeof(int32_t) * (num_states * num_columns() + 1));
    count(num_states);
    const auto num_steps = static_cast<size_t>(found.offsets.back());
    budget_.charge(3 * sizeof(int32_t) * num_steps);
    for (auto* column : {&found.pops, &found.pushes, &found.targets}) column->reserve(num_steps);
    for (size_t place = 0; place < states_.states.size(); ++place) write_place(static_cast<int32_t>(place));
  }

  AssembledSteps found;

 private:
  struct Exit {
    int32_t rule, number, num_returns;
  };

  size_t num_columns() const { return class_column_.size() + 1 + symbols_.num_labels; }
  int32_t last_symbol(int32_t state) const { return rows_[state].back().symbol; }
  const Exit& exit_of(int32_t symbol) const { return exits_[symbol - symbols_.first_exit()]; }
  bool is_return(int32_t symbol) const { return symbol > symbols_.first_exit(); }

  int32_t num_returns(int32_t rule, int32_t exit) const {
    int32_t count = 0;
    for (int32_t symbol : calls_of_[rule]) count += states_.returns[symbol][exit] != kNone;
    return count;
  }
  // Fill the row with the states that blocks and labels lead to from a place.
  void read(size_t place) {
    std::ranges::fill(row_, kNone);
    for (const Arc& arc : rows_[states_.states[place]]) {
      if (arc.symbol < symbols_.first_start()) row_[arc.symbol] = arc.target;
    }
    budget_.spend(static_cast<int64_t>(row_.size()));
  }
  void find_classes(std::span<const int32_t> interval_of) {
    ColumnClasses classes(symbols_.num_blocks, budget_);
    for (size_t place = 0; place < states_.states.size(); ++place) {
      read(place);
      classes.refine(std::span(row_).first(symbols_.num_blocks));
    }
    class_column_ = classes.number(interval_of, found.byte_class, budget_);
  }
  // Call `each(reached)` for the columns of the row in turn, with kNone if nothing is read.
  template <class Each>
  void for_columns(Each each) const {
    for (int32_t block : class_column_) each(row_[block]);
    each(kNone);
    for (int32_t label = 0; label < symbols_.num_labels; ++label) each(row_[symbols_.num_blocks + label]);
  }

  void count(size_t num_states) {
    found.offsets.reserve(num_states * num_columns() + 1);
    found.offsets.push_back(0);
    int64_t count = 0;
    for (size_t place = 0; place < states_.states.size(); ++place) {
      read(place);
      const bool may_end = last_symbol(states_.states[place]) == symbols_.first_exit();
      const size_t end_column = found.offsets.size() - 1 + class_column_.size();
      for_columns([&](int32_t reached) {
        if (reached != kNone) {
          count += is_return(last_symbol(reached)) ? exit_of(last_symbol(reached)).num_returns : 1;
        } else if (may_end && found.offsets.size() - 1 == end_column) {
          ++count;
        }
        found.offsets.push_back(static_cast<int32_t>(count));
      });
      if (count > kMaxSteps) throw std::length_error("there are more steps than 32 bits can number");
    }
    found.offsets.resize(num_states * num_columns() + 1, found.offsets.back());
  }

  void add(int32_t pops, int32_t pushes, int32_t target) {
    found.pops.push_back(pops), found.pushes.push_back(pushes), found.targets.push_back(target);
  }
  void write_place(int32_t place) {
    read(place);
    const bool may_end = last_symbol(states_.states[place]) == symbols_.first_exit();
    const auto num_classes = static_cast<int32_t>(class_column_.size());
    int32_t before = kNone, column = 0;
    for_columns([&](int32_t reached) {
      if (column++ == num_classes && may_end) {
        add(0, 0, static_cast<int32_t>(states_.states.size()));
        found.ends.push_back({place, 0});
      }
      if (reached == kNone) return;
      write_steps(place, reached, reached != before);
      before = reached;
    });
  }
  // Write the steps of a column that leads to a state; note their edges, calls and ends unless the column before led
  // there.
  void write_steps(int32_t place, int32_t reached, bool is_new) {
    const int32_t last = last_symbol(reached);
    if (is_return(last)) {
      write_returns(place, exit_of(last), is_new);
    } else if (symbols_.first_call() <= last && last < symbols_.first_exit()) {
      const int32_t pushed = states_.symbol_of[rows_[reached].front().target];
      add(0, pushed + 1, states_.number[states_.rule_start[last - symbols_.first_call()]]);
      if (is_new) found.calls.push_back({place, pushed});
    } else {
      add(0, 0, states_.number[reached]);
      if (is_new) found.edges.push_back({place, states_.number[reached]});
    }
  }
  void write_returns(int32_t place, const Exit& exit, bool is_new) {
    for (int32_t symbol : calls_of_[exit.rule]) {
      const int32_t after = states_.returns[symbol][exit.number];
      if (after != kNone) add(symbol + 1, 0, states_.number[after]);
    }
    budget_.spend(2 * static_cast<int64_t>(calls_of_[exit.rule].size()));
    if (is_new) found.ends.push_back({place, exit.number});
  }

  const ArcRows& rows_;
  const AssembledStates& states_;
  const RuleSymbols& symbols_;
  Vector<int32_t> row_;             // of the current place, by block and label
  Vector<int32_t> class_column_;    // [C], a block of each class
  const support::Groups calls_of_;  // the symbols of the calls of each rule
  Vector<Exit> exits_;              // [X]
  Budget& budget_;
};

}  // namespace

AssembledStates assembled_states(const DeterministicRules& rules, Budget& budget) {
  StateSearch search(rules, budget);
  search.run();
  return std::move(search.found);
}

AssembledSteps assembled_steps(const DeterministicRules& rules, const AssembledStates& states, Budget& budget) {
  StepWriter writer(rules, states, budget);
  writer.write();
  return std::move(writer.found);
}

}  // namespace automata
