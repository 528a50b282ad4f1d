#include "automata/visibly_pushdown/merging.h"

#include "automata/arc_rows.h"
#include "automata/distance.h"
#include "support/interner.h"

namespace automata {

namespace {

constexpr int kRounds = 2;

class Merging {
 public:
  Merging(Transitions&& automaton, Budget& budget)
      : final_(std::move(automaton.final)),
        rows_(arc_rows(static_cast<int32_t>(final_.size()), std::move(automaton.arcs), budget)),
        from_the_end_(breadth_first(rows_.num_states(), rows_.arcs, flagged(final_), budget).order),
        standing_(rows_.num_states(), kNone, budget),
        budget_(budget) {
    for (int32_t state : from_the_end_) standing_[state] = state;
    drop_dead_ends();
  }

  // Find a representative for each state by its transitions, whose targets are then representatives.
  void merge() {
    support::Interner<OutArc> known(budget_);
    Vector<int32_t> first(budget_);  // the state of each row
    for (int32_t state : from_the_end_) {
      if (standing_[state] != state) continue;
      known.push({final_[state] ? 1 : 0, kNone});
      for (int32_t at = rows_.offsets[state]; at < rows_.offsets[state + 1]; ++at) {
        Arc& arc = rows_.arcs[at];
        arc.target = standing_[arc.target];
        known.push({arc.symbol, arc.target});
      }
      budget_.spend(8 + 2 * static_cast<int64_t>(rows_[state].size()));
      const auto [number, is_new] = known.close();
      if (is_new) first.push_back(state);
      standing_[state] = first[number];
    }
  }

  // Return the automaton of the representatives.
  Minimal renumbered() const {
    const int32_t num_states = rows_.num_states();
    Vector<int32_t> number(num_states, kNone, budget_);
    int32_t count = 0;
    for (int32_t state = 0; state < num_states; ++state) {
      if (standing_[state] == state) number[state] = count++;
    }
    for (int32_t state = 0; state < num_states; ++state) {
      if (standing_[state] != kNone) number[state] = number[standing_for(state)];
    }
    Minimal found{number[0], Transitions(budget_)};
    for (int32_t state = 0; state < num_states; ++state) {
      if (standing_[state] != state) continue;
      found.automaton.final.push_back(final_[state]);
      for (const Arc& arc : rows_[state]) {
        found.automaton.arcs.push_back({number[state], arc.symbol, number[arc.target]});
      }
    }
    return found;
  }

 private:
  void drop_dead_ends() {
    int32_t kept = 0, begin = 0;
    for (int32_t state = 0; state < rows_.num_states(); ++state) {
      const int32_t end = rows_.offsets[state + 1];
      rows_.offsets[state] = kept;
      for (int32_t at = begin; at < end && standing_[state] != kNone; ++at) {
        if (standing_[rows_.arcs[at].target] != kNone) rows_.arcs[kept++] = rows_.arcs[at];
      }
      begin = end;
    }
    rows_.offsets.back() = kept;
  }
  int32_t standing_for(int32_t state) const {
    while (standing_[state] != state) state = standing_[state];
    return state;
  }

  const Vector<uint8_t> final_;
  ArcRows rows_;
  const Vector<int32_t> from_the_end_;  // the coaccessible states, those nearest to an end first
  Vector<int32_t> standing_;            // [Q], kNone for states that are not coaccessible
  Budget& budget_;
};

}  // namespace

Minimal merged(Transitions&& automaton, Budget& budget) {
  Merging merging(std::move(automaton), budget);
  for (int round = 0; round < kRounds; ++round) merging.merge();
  return merging.renumbered();
}

}  // namespace automata
