#include "automata/combinations.h"

#include <algorithm>
#include <numeric>

#include "support/interner.h"

namespace automata {

namespace {

// The reachable tuples of states: one of the texts, and one of each language, or kNone.
class TupleConstruction {
 public:
  TupleConstruction(const ByteTables& texts, std::span<const ByteTables* const> languages, Budget& budget)
      : ends(budget),
        automata_(budget),
        arcs_(budget),
        tuples_(budget),
        current_(budget),
        next_(budget),
        budget_(budget) {
    automata_.push_back(&texts);
    automata_.insert(automata_.end(), languages.begin(), languages.end());
    arcs_.reserve(automata_.size());
    for (const ByteTables* automaton : automata_) arcs_.emplace_back(*automaton, budget);
    next_.resize(automata_.size());
    for (const ByteTables* automaton : automata_) tuples_.push(automaton->start);
    tuples_.close();
  }

  void expand_all(int64_t max_states) {
    for (int32_t tuple = 0; tuple < tuples_.size(); ++tuple) {
      support::require_at_most(tuples_.size(), max_states);
      expand(tuple);
    }
  }

  support::Interner<uint8_t> ends;  // the combinations

 private:
  void expand(int32_t tuple) {
    // Tuples that are made meanwhile may move the others.
    current_.assign(tuples_[tuple].begin(), tuples_[tuple].end());
    if (automata_[0]->final[current_[0]]) {
      for (size_t number = 1; number < current_.size(); ++number)
        ends.push(current_[number] != kNone && automata_[number]->final[current_[number]]);
      ends.close();
    }
    std::ranges::fill(next_, 0);
    int64_t steps = 8;
    for (const ByteArc& arc : arcs_[0][current_[0]]) {
      for (int32_t low = arc.low, high; low <= arc.high; low = high + 1) {
        high = arc.high;
        tuples_.push(arc.target);
        for (size_t number = 1; number < current_.size(); ++number) tuples_.push(target(number, low, high));
        tuples_.close();
        steps += static_cast<int64_t>(4 * current_.size());
      }
    }
    budget_.spend(steps);
  }

  // Return where the bytes from `low` on lead in a language, and lower `high` to the last one for which that holds.
  int32_t target(size_t number, int32_t low, int32_t& high) {
    if (current_[number] == kNone) return kNone;
    const std::span<const ByteArc> arcs = arcs_[number][current_[number]];
    size_t& at = next_[number];
    while (at < arcs.size() && arcs[at].high < low) ++at;
    if (at == arcs.size()) return kNone;
    const bool is_there = arcs[at].low <= low;
    high = std::min(high, is_there ? arcs[at].high : arcs[at].low - 1);
    return is_there ? arcs[at].target : kNone;
  }

  Vector<const ByteTables*> automata_;
  Vector<ArcsByState> arcs_;
  support::Interner<int32_t> tuples_;
  Vector<int32_t> current_;  // the tuple that is expanded
  Vector<size_t> next_;      // by automaton, the arc that was looked at last
  Budget& budget_;
};

}  // namespace

Vector<uint8_t> combinations(const ByteTables& texts, std::span<const ByteTables* const> languages, int64_t max_states,
                             Budget& budget) {
  Vector<uint8_t> rows(budget);
  if (texts.start == kNone) return rows;
  TupleConstruction tuples(texts, languages, budget);
  tuples.expand_all(max_states);
  Vector<int32_t> order(tuples.ends.size(), 0, budget);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int32_t one, int32_t other) {
    return std::ranges::lexicographical_compare(tuples.ends[other], tuples.ends[one]);
  });
  for (const int32_t number : order) {
    rows.insert(rows.end(), tuples.ends[number].begin(), tuples.ends[number].end());
    budget.spend(std::ssize(languages));
  }
  return rows;
}

}  // namespace automata
