#include "automata/nested/assembly.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "automata/canonical.h"
#include "support/csr.h"

namespace automata {

namespace {

// What is laid for a place where more than bytes and labels are: the last of its symbols says so.
enum class Kind { kPlain, kCall, kEnd };

class PlaceSearch {
 public:
  PlaceSearch(int32_t start, const ArcRows& rows, const RuleSymbols& symbols, Budget& budget)
      : found{{},
              Vector<int32_t>(rows.num_states(), kNone, budget),
              Vector<int32_t>(budget),
              Vector<int32_t>(rows.num_states(), kNone, budget),
              Vector<CallSymbol>(budget),
              support::Matrix<int32_t>(0, most_exits(symbols), kNone, budget),
              Vector<int32_t>(symbols.num_rules, kNone, budget)},
        rows_(rows),
        symbols_(symbols),
        rule_of_(budget),
        budget_(budget) {
    for (const Arc& arc : rows[start]) found.rule_start[arc.symbol - symbols.first_start()] = arc.target;
  }

  void run() {
    reach(found.rule_start[0], 0);
    for (size_t at = 0; at < found.states.size() && found.wrong.fault == Fault::kNone; ++at) {
      expand(found.states[at], rule_of_[at]);
    }
  }

  Places found;

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
  void note(Fault fault, int32_t rule, int32_t other) {
    if (found.wrong.fault == Fault::kNone) found.wrong = {fault, rule, other};
  }
  Kind kind(int32_t state) const {
    const int32_t last = rows_[state].back().symbol;
    return last >= symbols_.first_exit() ? Kind::kEnd : last >= symbols_.first_call() ? Kind::kCall : Kind::kPlain;
  }
  // The symbol before the last one of a state, kNone where there is only one.
  int32_t other_symbol(int32_t state) const {
    const auto row = rows_[state];
    return row.size() > 1 ? row[row.size() - 2].symbol : kNone;
  }

  void expand(int32_t state, int32_t rule) {
    int32_t before = kNone;
    for (const Arc& arc : rows_[state]) {
      if (arc.symbol >= symbols_.first_exit()) {
        if (rule != 0) note(Fault::kAtOnce, rule, rule);
      } else if (arc.symbol >= symbols_.first_start()) {
        note(Fault::kAtOnce, rule, arc.symbol - symbols_.first_call());
      } else if (arc.target != before) {
        read(arc.target, rule);
      }
      before = arc.target;
      if (found.wrong.fault != Fault::kNone) return;
    }
    budget_.spend(1 + 2 * static_cast<int64_t>(rows_[state].size()));
  }
  // Reaches what reading a byte or a label leads to.
  void read(int32_t reached, int32_t rule) {
    const Kind reads = kind(reached);
    const int32_t other = other_symbol(reached);
    if (reads == Kind::kPlain) {
      reach(reached, rule);
    } else if (reads == Kind::kCall) {
      const int32_t callee = rows_[reached].back().symbol - symbols_.first_call();
      if (other != kNone) {
        note(other >= symbols_.first_call() ? Fault::kTwoRules : Fault::kReadOn, callee,
             std::max(other - symbols_.first_call(), kNone));
        return;
      }
      note_symbol(rows_[reached].front().target, {callee, rule});
      reach(found.rule_start[callee], callee);
    } else if (rule != 0) {
      if (other != kNone) note(other >= symbols_.first_exit() ? Fault::kTwoExits : Fault::kReadOn, rule, rule);
    } else {
      reach(reached, rule);
    }
  }
  // Makes what follows a call a symbol, and reaches it.
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

// Where each place reads what: the states that classes of bytes and labels lead to.
class Reads {
 public:
  Reads(const ArcRows& rows, const Places& places, const RuleSymbols& symbols, std::span<const int32_t> interval_of,
        Budget& budget)
      : charge_(budget, sizeof(int32_t) * places.states.size() * symbols.num_blocks),
        labels_(places.states.size(), symbols.num_labels, kNone, budget) {
    support::Matrix<int32_t> blocks(places.states.size(), symbols.num_blocks, kNone, budget);
    for (size_t place = 0; place < places.states.size(); ++place) {
      for (const Arc& arc : rows[places.states[place]]) {
        if (arc.symbol < symbols.num_blocks) {
          blocks[place][arc.symbol] = arc.target;
        } else if (arc.symbol < symbols.first_start()) {
          labels_[place][arc.symbol - symbols.num_blocks] = arc.target;
        }
      }
      budget.spend(static_cast<int64_t>(blocks.columns()));
    }
    merge_columns(interval_of, blocks, classes, budget);
  }
  // By class; kNone at the end of the text, and then by label.
  int32_t operator()(size_t place, int32_t column) const {
    if (column < classes.num_classes) return classes.next[place * classes.num_classes + column];
    return column == classes.num_classes ? kNone : labels_[place][column - classes.num_classes - 1];
  }

  ByteTables classes;

 private:
  const support::Charge charge_;  // for the classes
  support::Matrix<int32_t> labels_;
};

constexpr size_t kMostSteps = size_t{1} << 30;

class StepWriter {
 public:
  StepWriter(const ArcRows& rows, const Places& places, const RuleSymbols& symbols, const Reads& reads, Budget& budget)
      : found(budget),
        rows_(rows),
        places_(places),
        symbols_(symbols),
        reads_(reads),
        calls_of_(support::grouped(
            symbols.num_rules, places.symbols.size(), [&](size_t s) { return places.symbols[s].callee; }, budget)),
        rule_of_exit_(budget),
        budget_(budget) {
    for (int32_t rule = 0; rule < symbols.num_rules; ++rule) {
      rule_of_exit_.resize(symbols.exit_offsets[rule + 1], rule);
    }
    found.byte_class = reads.classes.byte_class, found.num_classes = reads.classes.num_classes;
  }

  void write() {
    const auto num_states = static_cast<int32_t>(places_.states.size());
    for (int32_t state = 0; state < num_states; ++state) {
      write_state(state);
      if (found.steps.size() > kMostSteps) throw std::length_error("there are more steps than 32 bits can number");
    }
    const size_t width = found.num_classes + 1 + symbols_.num_labels;
    found.offsets.resize(found.offsets.size() + width + 1, static_cast<int32_t>(found.steps.size()));
  }

  PlaceSteps found;

 private:
  int32_t last_symbol(int32_t state) const { return rows_[state].back().symbol; }

  void write_state(int32_t state) {
    int32_t before = kNone;
    for (int32_t column = 0; column < found.num_classes + 1 + symbols_.num_labels; ++column) {
      found.offsets.push_back(static_cast<int32_t>(found.steps.size()));
      if (column == found.num_classes && last_symbol(places_.states[state]) == symbols_.first_exit()) {
        found.steps.push_back({0, 0, static_cast<int32_t>(places_.states.size())});
        found.ends.push_back({state, 0});
      }
      const int32_t reached = reads_(state, column);
      if (reached == kNone) continue;
      write_steps(state, reached, reached != before);
      before = reached;
    }
    budget_.spend(found.num_classes);
  }
  // The steps of a column that leads to a state; what they lead to is noted where it is new.
  void write_steps(int32_t state, int32_t reached, bool is_new) {
    const int32_t last = last_symbol(reached);
    if (last > symbols_.first_exit()) {
      write_returns(state, last - symbols_.first_exit(), is_new);
    } else if (symbols_.first_call() <= last && last < symbols_.first_exit()) {
      const int32_t pushed = places_.symbol_of[rows_[reached].front().target];
      const int32_t begin = places_.rule_start[last - symbols_.first_call()];
      found.steps.push_back({0, pushed + 1, places_.number[begin]});
      if (is_new) found.calls.push_back({state, pushed});
    } else {
      found.steps.push_back({0, 0, places_.number[reached]});
      if (is_new) found.edges.push_back({state, places_.number[reached]});
    }
  }
  void write_returns(int32_t state, int32_t exit, bool is_new) {
    const int32_t rule = rule_of_exit_[exit], way = exit - symbols_.exit_offsets[rule];
    for (int32_t symbol : calls_of_[rule]) {
      const int32_t after = places_.returns[symbol][way];
      if (after != kNone) found.steps.push_back({symbol + 1, 0, places_.number[after]});
    }
    budget_.spend(2 * static_cast<int64_t>(calls_of_[rule].size()));
    if (is_new) found.ends.push_back({state, way});
  }

  const ArcRows& rows_;
  const Places& places_;
  const RuleSymbols& symbols_;
  const Reads& reads_;
  const support::Groups calls_of_;  // the symbols of the calls of each rule
  Vector<int32_t> rule_of_exit_;    // [X]
  Budget& budget_;
};

}  // namespace

Places places_of(int32_t start, const ArcRows& rows, const RuleSymbols& symbols, Budget& budget) {
  PlaceSearch search(start, rows, symbols, budget);
  search.run();
  return std::move(search.found);
}

PlaceSteps steps_of(const ArcRows& rows, const Places& places, const RuleSymbols& symbols,
                    std::span<const int32_t> interval_of, Budget& budget) {
  const Reads reads(rows, places, symbols, interval_of, budget);
  StepWriter writer(rows, places, symbols, reads, budget);
  writer.write();
  return std::move(writer.found);
}

}  // namespace automata
