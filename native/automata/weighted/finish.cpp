// The last steps of every weighted construction: without dead states, with costs pushed to the front, minimal.

#include "automata/distance.h"
#include "automata/state_numbering.h"
#include "automata/weighted/potentials.h"
#include "support/interner.h"

namespace automata {

namespace {

// Return whether a text can end after each state.
Vector<uint8_t> coaccessible_states(const WeightedBuilder& automaton, Budget& budget) {
  Vector<Edge> edges(budget);
  edges.reserve(automaton.arcs.size());
  Vector<int32_t> ends(budget);
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    if (automaton.final[state] != kInfinite) ends.push_back(state);
    for (int32_t a = automaton.offsets[state]; a < automaton.offsets[state + 1]; ++a) {
      edges.push_back({state, automaton.arcs[a].target});
    }
  }
  const Vector<int32_t> distance = distances(automaton.num_states(), edges, ends, budget);
  Vector<uint8_t> found(distance.size(), false, budget);
  for (size_t state = 0; state < distance.size(); ++state) found[state] = distance[state] != kNone;
  return found;
}

WeightedBuilder without_dead_states(const WeightedBuilder& automaton, Budget& budget) {
  const Vector<uint8_t> lives = coaccessible_states(automaton, budget);
  Vector<int32_t> number(lives.size(), kNone, budget);
  int32_t count = 0;
  for (size_t state = 0; state < lives.size(); ++state) {
    if (lives[state]) number[state] = count++;
  }
  WeightedBuilder found(budget);
  found.initial = automaton.initial;
  if (number.empty() || number[0] == kNone) return found;
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    if (!lives[state]) continue;
    for (int32_t a = automaton.offsets[state]; a < automaton.offsets[state + 1]; ++a) {
      const ByteArc& arc = automaton.arcs[a];
      if (lives[arc.target]) found.add({arc.low, arc.high, number[arc.target]}, automaton.cost[a]);
    }
    found.close(automaton.final[state]);
  }
  return found;
}

void push(WeightedBuilder& automaton, std::span<const Cost> potential) {
  automaton.initial = sum(automaton.initial, potential[0]);
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    for (int32_t a = automaton.offsets[state]; a < automaton.offsets[state + 1]; ++a) {
      const Cost more = sum(potential[automaton.arcs[a].target], -potential[state]);
      automaton.cost[a] = sum(automaton.cost[a], more);
    }
    if (automaton.final[state] != kInfinite) automaton.final[state] = sum(automaton.final[state], -potential[state]);
  }
}

// The blocks of states with equal costs for all rests of texts.
class Minimizer {
 public:
  Minimizer(const WeightedBuilder& automaton, Budget& budget)
      : automaton_(automaton),
        budget_(budget),
        block_(automaton.num_states(), kNone, budget) {}

  Vector<int32_t> blocks() {
    const Vector<int32_t> looping = fold_without_loops();
    if (!looping.empty()) refine(looping);
    return std::move(block_);
  }
  int32_t num_blocks() const { return num_blocks_; }

 private:
  // States from which no loop can be reached are folded from the last to the first. Return the others.
  Vector<int32_t> fold_without_loops() {
    const support::Groups members = components(automaton_, budget_);
    Vector<int32_t> looping(budget_);
    support::Interner<int64_t> rows(budget_);
    for (int32_t at = 0; at < members.num_keys(); ++at) {
      const auto states = members[at];
      bool loops = states.size() > 1;
      for (const ByteArc& arc : arcs_of(states[0])) loops |= block_[arc.target] == kNone;
      if (loops) {
        looping.insert(looping.end(), states.begin(), states.end());
      } else {
        write(states[0], rows);
        block_[states[0]] = rows.close().number;
      }
    }
    num_blocks_ = rows.size();
    return looping;
  }

  // The others are split until no split is left (Moore 1956).
  void refine(std::span<const int32_t> looping) {
    const int32_t first = num_blocks_;
    for (int32_t state : looping) block_[state] = first;
    Vector<int32_t> split(looping.size(), 0, budget_);
    for (int32_t count = 0, before = -1; count != before;) {
      before = count;
      support::Interner<int64_t> rows(budget_);
      for (size_t at = 0; at < looping.size(); ++at) {
        write(looping[at], rows);
        split[at] = first + rows.close().number;
      }
      for (size_t at = 0; at < looping.size(); ++at) block_[looping[at]] = split[at];
      count = rows.size();
      num_blocks_ = first + count;
    }
  }

  // Write what tells a state apart, arcs into one block at one cost as one.
  void write(int32_t state, support::Interner<int64_t>& rows) {
    rows.push(automaton_.final[state]);
    int64_t high = -2, target = kNone;
    Cost paid = 0;
    size_t last = 0;
    for (int32_t a = automaton_.offsets[state]; a < automaton_.offsets[state + 1]; ++a) {
      const ByteArc& arc = automaton_.arcs[a];
      if (high + 1 == arc.low && arc.low < kFirstLabel && target == block_[arc.target] && paid == automaton_.cost[a]) {
        rows.open()[last] = high = arc.high;
        continue;
      }
      high = arc.high, target = block_[arc.target], paid = automaton_.cost[a];
      rows.push(arc.low);
      last = rows.open().size();
      rows.push(high);
      rows.push(target);
      rows.push(paid);
    }
    budget_.spend(4 + 8 * static_cast<int64_t>(rows.open().size()));
  }

  std::span<const ByteArc> arcs_of(int32_t state) const {
    return {automaton_.arcs.data() + automaton_.offsets[state], automaton_.arcs.data() + automaton_.offsets[state + 1]};
  }

  const WeightedBuilder& automaton_;
  Budget& budget_;
  Vector<int32_t> block_;
  int32_t num_blocks_ = 0;
};

// Return one state for each block, numbered breadth first.
WeightedBuilder minimized(const WeightedBuilder& automaton, Budget& budget) {
  Minimizer minimizer(automaton, budget);
  const Vector<int32_t> block = minimizer.blocks();
  Vector<int32_t> chosen(minimizer.num_blocks(), kNone, budget);
  for (int32_t state = automaton.num_states(); state-- > 0;) chosen[block[state]] = state;
  StateNumbering search(minimizer.num_blocks(), block[0], budget);
  WeightedBuilder made(budget);
  made.initial = automaton.initial;
  for (size_t at = 0; at < search.order.size(); ++at) {
    const int32_t state = chosen[search.order[at]];
    for (int32_t a = automaton.offsets[state]; a < automaton.offsets[state + 1]; ++a) {
      const ByteArc& arc = automaton.arcs[a];
      search.reach(block[arc.target]);
      made.add({arc.low, arc.high, search.number[block[arc.target]]}, automaton.cost[a]);
    }
    made.close(automaton.final[state]);
    budget.spend(4 + 4 * (automaton.offsets[state + 1] - automaton.offsets[state]));
  }
  return made;
}

}  // namespace

WeightedTables finished_tables(WeightedBuilder&& automaton, int32_t num_labels, Semiring semiring, Budget& budget) {
  WeightedBuilder trim = without_dead_states(automaton, budget);
  WeightedTables found;
  found.num_labels = num_labels;
  found.offsets = {0};
  if (trim.num_states() == 0) return found;
  if (const auto potential = potentials(trim, semiring, budget)) {
    push(trim, *potential);
  } else {
    // Equal states have to be one, or the start could be another state than the hub that it is equal to.
    trim = minimized(trim, budget);
    push(trim, potentials_by_hubs(trim, budget));
  }
  const WeightedBuilder made = minimized(trim, budget);
  found.initial = made.initial;
  found.offsets = support::charged_copy(made.offsets, budget);
  found.arcs = support::charged_copy(made.arcs, budget);
  found.cost = support::charged_copy(made.cost, budget);
  found.final = support::charged_copy(made.final, budget);
  return found;
}

}  // namespace automata
