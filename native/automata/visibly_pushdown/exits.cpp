#include "automata/visibly_pushdown/exits.h"

#include <algorithm>

#include "automata/distance.h"
#include "automata/minimize.h"
#include "support/interner.h"

namespace automata {

namespace {

// The meaning of a symbol until all copies are known: a byte or label, or the number of a copy or of a copy's exit.
enum class SymbolKind : int32_t { kRead, kStart, kCall, kExit };

struct CopiedArc {
  int32_t source;
  SymbolKind kind;
  int32_t number, target;
};

class RuleCopies {
 public:
  RuleCopies(const DeterministicRules& rules, Budget& budget)
      : symbols_(rules.symbols),
        final_(rules.final),
        rows_(rules.rows),
        rule_start_(rules.symbols.num_rules, kNone, budget),
        rule_of_exit_(budget),
        local_(rules.rows.num_states(), kNone, budget),
        wanted_(budget),
        found_(budget),
        budget_(budget) {
    for (const Arc& arc : rows_[rules.start]) rule_start_[arc.symbol - symbols_.first_start()] = arc.target;
    for (int32_t rule = 0; rule < symbols_.num_rules; ++rule) {
      rule_of_exit_.resize(symbols_.exit_offsets[rule + 1], rule);
      num_exits_ = std::max(num_exits_, symbols_.num_exits(rule));
    }
    wanted_.push(0);
    wanted_.push(0);
    wanted_.close();
  }

  // Add all wanted copies, and transitively those that they call.
  void add_all(int64_t max_states) {
    for (int32_t copy = 0; copy < wanted_.size(); ++copy) {
      add(copy);
      support::require_at_most(num_states_, max_states);
    }
  }

  // Return the copies as one automaton; all of them have the same number of exits.
  DeterministicRules automaton() const {
    const int32_t num_copies = wanted_.size(), first = symbols_.first_start();
    const int32_t begins[] = {0, first, first + num_copies, first + 2 * num_copies};
    Transitions arcs(budget_);
    arcs.final.assign(num_states_, false);
    arcs.final[kLastState] = true;
    for (const CopiedArc& arc : found_) {
      arcs.arcs.push_back({arc.source, begins[static_cast<int32_t>(arc.kind)] + arc.number, arc.target});
    }
    RuleSymbols symbols{symbols_.num_blocks, symbols_.num_labels, num_copies, Vector<int32_t>(budget_)};
    for (int32_t copy = 0; copy <= num_copies; ++copy) symbols.exit_offsets.push_back(copy * num_exits_);
    Minimal minimal = minimize(arcs, budget_);
    const int32_t num_states = minimal.automaton.num_states();
    return {minimal.start,
            std::move(minimal.automaton.final),
            arc_rows(num_states, std::move(minimal.automaton.arcs), budget_),
            std::move(symbols),
            Vector<int32_t>(budget_),
            Vector<uint8_t>(budget_)};
  }

 private:
  int32_t exit_of(int32_t symbol) const {
    const int32_t exit = symbol - symbols_.first_exit();
    return exit - symbols_.exit_offsets[rule_of_exit_[exit]];
  }
  bool is_exit(const Arc& arc) const { return arc.symbol >= symbols_.first_exit(); }
  // Return whether an arc ends a rule in an exit that is not among the wanted ones, which ascend.
  bool is_unwanted(const Arc& arc, std::span<const int32_t> exits) const {
    return is_exit(arc) && final_[arc.target] && !std::ranges::binary_search(exits, exit_of(arc.symbol));
  }

  // Add a copy, and mark the copies that it calls as wanted.
  void add(int32_t copy) {
    const Vector<int32_t> key(wanted_[copy].begin(), wanted_[copy].end(), budget_);
    const int32_t start = rule_start_[key[0]];
    const std::span<const int32_t> exits = std::span(key).subspan(1);
    Vector<int32_t> states = reached(start, exits);
    keep_coaccessible(states, exits);
    std::ranges::sort(states);
    for (int32_t state : states) local_[state] = num_states_++;
    found_.push_back({kFirstState, SymbolKind::kStart, copy, local_[start]});
    // Calls come first, so that copies are numbered in their order.
    for (int32_t state : states) {
      for (const Arc& arc : rows_[state]) {
        if (arc.symbol >= symbols_.first_call() && !is_exit(arc) && local_[arc.target] != kNone) {
          found_.push_back({local_[state], SymbolKind::kCall, copy_of_call(arc.target), local_[arc.target]});
        }
      }
    }
    for (int32_t state : states) add_others(state, copy, exits);
    for (int32_t state : states) local_[state] = kNone;
  }

  // Return the states that can be reached from a start, except the last state, and including the start.
  Vector<int32_t> reached(int32_t start, std::span<const int32_t> exits) {
    Vector<int32_t> states(1, start, budget_);
    local_[start] = 0;
    for (size_t at = 0; at < states.size(); ++at) {
      for (const Arc& arc : rows_[states[at]]) {
        if (final_[arc.target] || local_[arc.target] != kNone || is_unwanted(arc, exits)) continue;
        local_[arc.target] = static_cast<int32_t>(states.size());
        states.push_back(arc.target);
      }
      budget_.spend(1 + 2 * static_cast<int64_t>(rows_[states[at]].size()));
    }
    return states;
  }
  // Keep those of some states, numbered in `local_`, from which a wanted exit is reached; the others lose their
  // numbers.
  void keep_coaccessible(Vector<int32_t>& states, std::span<const int32_t> exits) {
    Vector<Edge> edges(budget_);
    Vector<int32_t> goals(budget_);
    for (int32_t state : states) {
      for (const Arc& arc : rows_[state]) {
        if (!final_[arc.target]) {
          edges.push_back({local_[state], local_[arc.target]});
        } else if (!is_unwanted(arc, exits)) {
          goals.push_back(local_[state]);
        }
      }
    }
    const Vector<int32_t> distance = distances(static_cast<int32_t>(states.size()), edges, std::span(goals), budget_);
    std::erase_if(states, [&](int32_t state) {
      const bool is_dead = distance[local_[state]] == kNone;
      if (is_dead) local_[state] = kNone;
      return is_dead;
    });
  }

  // Return the copy of the rule whose call leads to `follows`, for the exits after which the text continues.
  int32_t copy_of_call(int32_t follows) {
    wanted_.discard();
    for (const Arc& arc : rows_[follows]) {
      if (local_[arc.target] == kNone) continue;
      if (wanted_.open().empty()) wanted_.push(rule_of_exit_[arc.symbol - symbols_.first_exit()]);
      wanted_.push(exit_of(arc.symbol));
    }
    return wanted_.close().number;
  }
  // Add the arcs of a state except its calls.
  void add_others(int32_t state, int32_t copy, std::span<const int32_t> exits) {
    for (const Arc& arc : rows_[state]) {
      if (arc.symbol < symbols_.first_start()) {
        if (local_[arc.target] != kNone) {
          found_.push_back({local_[state], SymbolKind::kRead, arc.symbol, local_[arc.target]});
        }
      } else if (is_exit(arc) && final_[arc.target]) {
        if (is_unwanted(arc, exits)) continue;
        found_.push_back({local_[state], SymbolKind::kExit, copy * num_exits_ + exit_of(arc.symbol), kLastState});
      } else if (is_exit(arc) && local_[arc.target] != kNone) {
        const int32_t exit = copy_of_call(state) * num_exits_ + exit_of(arc.symbol);
        found_.push_back({local_[state], SymbolKind::kExit, exit, local_[arc.target]});
      }
    }
    budget_.spend(4 + 4 * static_cast<int64_t>(rows_[state].size()));
  }

  const RuleSymbols& symbols_;
  const Vector<uint8_t>& final_;
  const ArcRows& rows_;
  Vector<int32_t> rule_start_, rule_of_exit_;
  int32_t num_exits_ = 1;              // the most exits that a rule has
  Vector<int32_t> local_;              // [Q], the number of a state in the copy being made
  support::Interner<int32_t> wanted_;  // of each copy: the rule, and its wanted exits, ascending
  int32_t num_states_ = kLastState + 1;
  Vector<CopiedArc> found_;
  Budget& budget_;
};

}  // namespace

bool some_unwanted(const AssembledStates& states, const DeterministicRules& rules) {
  for (size_t symbol = 0; symbol < states.symbols.size(); ++symbol) {
    const int32_t callee = states.symbols[symbol].callee, first = rules.symbols.exit_offsets[callee];
    for (int32_t exit = 0; exit < rules.symbols.num_exits(callee); ++exit) {
      if (rules.has_text[first + exit] && states.returns[symbol][exit] == kNone) return true;
    }
  }
  return false;
}

DeterministicRules by_exits(const DeterministicRules& rules, int64_t max_states, Budget& budget) {
  RuleCopies copies(rules, budget);
  copies.add_all(max_states);
  return copies.automaton();
}

}  // namespace automata
