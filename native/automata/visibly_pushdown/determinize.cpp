#include "automata/visibly_pushdown/determinize.h"

#include <utility>

#include "automata/canonical.h"
#include "automata/determinize.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "automata/visibly_pushdown/merging.h"

namespace automata {

namespace {

// A layout whose chains and copies are written out, with arcs over the symbols of its rules.
class SymbolNfa {
 public:
  SymbolNfa(const VisiblyPushdownLayout& layout, Budget& budget)
      : has_text(budget),
        layout_(layout),
        all_(written(layout, num_symbol_arcs(layout) + 256, budget)),
        first_symbol_(kFirstLabel + layout.num_labels) {
    const EdgesOfBoth edges(all_.arcs, all_.epsilon);
    const Vector<Return> returns = returns_of(layout, budget);
    has_text =
        productive_exits(RuleGraph<decltype(edges)>{all_.num_states, layout.num_exits(), edges, returns, layout.ends},
                         layout.starts, budget);
    for (int32_t rule = 0; rule < layout.num_rules(); ++rule) add(kFirstState, rule, layout.starts[rule]);
    for (const RuleEnd& end : layout.ends) add(end.state, exit_symbol(end.exit), kLastState);
    for (const Call& call : layout.calls) add_call(call);
    add_cuts();
  }

  Transitions determinized(int64_t max_states, Vector<int32_t>& symbol_of, Budget& budget) {
    const int32_t num_labels = layout_.num_labels + 2 * layout_.num_rules() + layout_.num_exits();
    Intervals over = over_intervals(all_.arcs, num_labels, budget);
    symbol_of = std::move(over.of);
    Vector<Range>(budget).swap(all_.arcs);
    const Nfa nfa{all_.num_states + 1, symbol_of.back() + 1, over.arcs, all_.epsilon, kLastState};
    return determinize(nfa, max_states, budget);
  }

  Vector<uint8_t> has_text;

 private:
  static size_t num_symbol_arcs(const VisiblyPushdownLayout& layout) {
    return layout.starts.size() + layout.ends.size() + layout.calls.size() + layout.targets.size();
  }
  int32_t exit_symbol(int32_t exit) const { return 2 * layout_.num_rules() + exit; }
  void add(int32_t source, int32_t symbol, int32_t target) {
    all_.arcs.push_back({source, first_symbol_ + symbol, first_symbol_ + symbol, target});
  }
  void add_call(const Call& call) {
    const size_t before = all_.arcs.size();
    int32_t exit = layout_.first_exit[call.rule];
    for (int32_t target : layout_.targets_of(call)) {
      if (has_text[exit] && target != kNone) add(all_.num_states, exit_symbol(exit), target);
      ++exit;
    }
    if (all_.arcs.size() > before) add(call.source, layout_.num_rules() + call.rule, all_.num_states++);
  }
  // Add arcs at an unreachable state, which cut the bytes in the same way as the arcs of all prepared rules.
  void add_cuts() {
    bool cuts[257] = {};
    for (const Prepared& prepared : layout_.prepared) {
      for (const Range& arc : layout_.fragments[prepared.fragment]->arcs()) {
        if (arc.low < kFirstLabel) cuts[arc.low] = cuts[arc.high + 1] = true;
      }
    }
    for (int32_t begin = 0, byte = 1; byte <= 256; ++byte) {
      if (!cuts[byte]) continue;
      all_.arcs.push_back({all_.num_states, begin, byte - 1, all_.num_states});
      begin = byte;
    }
  }

  const VisiblyPushdownLayout& layout_;
  WrittenLayout all_;
  const int32_t first_symbol_;
};

// Inserts the states of prepared rules between their starts and their ends.
class PreparedRules {
 public:
  PreparedRules(const VisiblyPushdownLayout& layout, const Vector<int32_t>& symbol_of, int32_t start,
                Transitions& automaton, Budget& budget)
      : layout_(layout),
        symbol_of_(symbol_of),
        automaton_(automaton),
        begins_(layout.num_rules(), kNone, budget) {
    const int32_t first_start = symbol_of[kFirstLabel + layout.num_labels];
    for (size_t arc = 0; arc < automaton.arcs.size(); ++arc) {
      if (automaton.arcs[arc].source == start) {
        begins_[automaton.arcs[arc].symbol - first_start] = static_cast<int32_t>(arc);
      }
    }
  }

  void add_all(int64_t max_states, Budget& budget) {
    int64_t num_states = automaton_.num_states();
    size_t num_arcs = automaton_.arcs.size();
    for (const Prepared& prepared : layout_.prepared) {
      num_states += layout_.fragments[prepared.fragment]->num_states() - 1;
      for (const Range& arc : layout_.fragments[prepared.fragment]->arcs())
        num_arcs += symbol_of_[arc.high] - symbol_of_[arc.low] + 1;
      budget.spend(static_cast<int64_t>(layout_.fragments[prepared.fragment]->arcs().size()));
    }
    support::require_at_most(num_states, max_states);
    automaton_.final.reserve(num_states);
    automaton_.arcs.reserve(num_arcs);
    for (const Prepared& prepared : layout_.prepared) {
      if (begins_[prepared.rule] != kNone) add(prepared);
      budget.spend(4 * static_cast<int64_t>(layout_.fragments[prepared.fragment]->arcs().size()));
    }
  }

 private:
  void add(const Prepared& prepared) {
    // State 1 of a fragment becomes the placeholder of its rule; the others are new.
    const int32_t base = automaton_.num_states();
    const int32_t end = std::exchange(automaton_.arcs[begins_[prepared.rule]].target, base);
    const auto moved = [&](int32_t state) { return state == 1 ? end : base + state - (state > 1); };
    automaton_.final.resize(base + layout_.fragments[prepared.fragment]->num_states() - 1, false);
    for (const Range& arc : layout_.fragments[prepared.fragment]->arcs()) {
      for (int32_t symbol = symbol_of_[arc.low]; symbol <= symbol_of_[arc.high]; ++symbol) {
        automaton_.arcs.push_back({moved(arc.source), symbol, moved(arc.target)});
      }
    }
  }

  const VisiblyPushdownLayout& layout_;
  const Vector<int32_t>& symbol_of_;
  Transitions& automaton_;
  Vector<int32_t> begins_;  // [R], the arc from the start to each rule
};

}  // namespace

DeterministicRules determinize(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget) {
  Vector<int32_t> symbol_of(budget);
  SymbolNfa nfa(layout, budget);
  Minimal found = merged(nfa.determinized(max_states, symbol_of, budget), budget);
  if (found.start != kNone && !layout.prepared.empty()) {
    PreparedRules(layout, symbol_of, found.start, found.automaton, budget).add_all(max_states, budget);
  }
  RuleSymbols symbols{symbol_of[255] + 1, layout.num_labels, layout.num_rules(), Vector<int32_t>(budget)};
  symbols.exit_offsets.assign(layout.first_exit.begin(), layout.first_exit.end());
  symbol_of.resize(256);
  const int32_t num_states = found.automaton.num_states();
  return {found.start,
          std::move(found.automaton.final),
          arc_rows(num_states, std::move(found.automaton.arcs), budget),
          std::move(symbols),
          std::move(symbol_of),
          std::move(nfa.has_text)};
}

ByteTables regular(const VisiblyPushdownLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget) {
  Intervals over{Vector<int32_t>(budget), Vector<Arc>(budget)};
  WrittenLayout all = written(layout, 0, budget);
  over = over_intervals(all.arcs, layout.num_labels, budget);
  Vector<Range>(budget).swap(all.arcs);
  all.epsilon.push_back({kFirstState, layout.starts[0]});
  for (const RuleEnd& end : layout.ends) all.epsilon.push_back({end.state, kLastState});
  const Nfa nfa{all.num_states, over.num_symbols(), over.arcs, all.epsilon, kLastState};
  return tabulated(minimize(determinize(nfa, max_states, budget), budget), over.of, layout.num_labels, dense_bytes,
                   budget);
}

}  // namespace automata
