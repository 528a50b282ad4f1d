#include "automata/visibly_pushdown/paths.h"

#include <algorithm>
#include <ranges>

#include "automata/canonical.h"
#include "automata/distance.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "support/matrix.h"

namespace automata {

namespace {

Vector<Edge> edges_of(const ArcsByState& arcs, int32_t num_states, Budget& budget) {
  Vector<Edge> edges(budget);
  edges.reserve(arcs.all().size());
  for (int32_t state = 0; state < num_states; ++state) {
    for (const ByteArc& arc : arcs[state]) edges.push_back({state, arc.target});
  }
  return edges;
}

// Return the least number of counted states from each state to an end: a search with edges of length 0 and 1.
Vector<int32_t> least_numbers(const ByteTables& automaton, const Vector<Edge>& edges,
                              std::span<const uint8_t> is_counted, Budget& budget) {
  const support::Groups into = entering(automaton.num_states(), edges, budget);
  Vector<int32_t> least(automaton.num_states(), kEndless, budget), now(budget), later(budget);
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    if (!automaton.final[state]) continue;
    least[state] = 0;
    now.push_back(state);
  }
  for (int32_t number = 0; !now.empty(); ++number) {
    while (!now.empty()) {
      const int32_t state = now.back();
      now.pop_back();
      if (least[state] != number) continue;
      budget.spend(1 + static_cast<int64_t>(into[state].size()));
      for (int32_t edge : into[state]) {
        const int32_t before = edges[edge].source;
        if (least[before] <= number + is_counted[state]) continue;
        least[before] = number + is_counted[state];
        (is_counted[state] ? later : now).push_back(before);
      }
    }
    std::swap(now, later);
  }
  return least;
}

// Return the greatest number of counted states from each state to an end.
Vector<int32_t> most_numbers(const ArcsByState& arcs, int32_t num_states, const Vector<Edge>& edges,
                             std::span<const uint8_t> is_counted, Budget& budget) {
  Vector<int32_t> most(num_states, kEndless, budget);
  for (int32_t state : bottom_up(num_states, edges, budget)) {
    most[state] = 0;
    for (const ByteArc& arc : arcs[state])
      most[state] = std::max(most[state], most[arc.target] + is_counted[arc.target]);
    budget.spend(1 + static_cast<int64_t>(arcs[state].size()));
  }
  return most;
}

// Checks that the numbers of a state, which follow from those of its targets, have no gap.
class ContiguityCheck {
 public:
  ContiguityCheck(const ByteTables& automaton, const ArcsByState& arcs, std::span<const uint8_t> is_counted,
                  const PathNumbers& numbers, Budget& budget)
      : automaton_(automaton),
        arcs_(arcs),
        is_counted_(is_counted),
        numbers_(numbers),
        runs_(budget) {}

  bool holds(int32_t state) {
    runs_.clear();
    if (automaton_.final[state]) runs_.push_back({0, 0});
    for (const ByteArc& arc : arcs_[state]) {
      const int64_t counted = is_counted_[arc.target], most = numbers_.most[arc.target];
      runs_.push_back({numbers_.least[arc.target] + counted, most == kEndless ? most : most + counted});
    }
    std::ranges::sort(runs_, {}, &Run::first);
    for (size_t run = 1; run < runs_.size(); ++run) {
      if (runs_[run].first > runs_[run - 1].last + 1) return false;
      runs_[run].last = std::max(runs_[run].last, runs_[run - 1].last);
    }
    return true;
  }

 private:
  struct Run {
    int64_t first, last;
  };
  const ByteTables& automaton_;
  const ArcsByState& arcs_;
  const std::span<const uint8_t> is_counted_;
  const PathNumbers& numbers_;
  Vector<Run> runs_;
};

// The reachable pairs of a state and a count, and the arcs between them.
class CountedProduct {
 public:
  CountedProduct(const ByteTables& automaton, std::span<const CountedState> states, CountedRange range, Budget& budget)
      : final(budget),
        ranges(budget),
        automaton_(automaton),
        states_(states),
        range_(range),
        bound_(range.high == kNone ? range.low : range.high),
        arcs_(automaton, budget),
        number_(static_cast<size_t>(bound_) + 1, states.size(), kNone, budget),
        pairs_(budget),
        budget_(budget) {}

  void expand_all(int32_t start) {
    number({start, 0});
    for (size_t at = 0; at < pairs_.size(); ++at) expand(static_cast<int32_t>(at));
  }

  Vector<uint8_t> final;
  Vector<Range> ranges;

 private:
  struct Pair {
    int32_t state, count;
  };

  int32_t number(Pair pair) {
    int32_t& known = number_[pair.count][pair.state];
    if (known == kNone) {
      known = static_cast<int32_t>(pairs_.size());
      pairs_.push_back(pair);
    }
    return known;
  }
  void expand(int32_t at) {
    const auto [state, count] = pairs_[at];
    final.push_back(automaton_.final[state] && count >= range_.low);
    for (const ByteArc& arc : arcs_[state]) {
      const CountedState& target = states_[arc.target];
      int64_t after = static_cast<int64_t>(count) + target.is_counted;
      // Without an upper bound, the lower bound represents all numbers above it.
      if (range_.high == kNone) after = std::min<int64_t>(after, bound_);
      if (!leads_on(after, range_, target.least, target.most) || after > bound_) continue;
      ranges.push_back({at, arc.low, arc.high, number({arc.target, static_cast<int32_t>(after)})});
    }
    budget_.spend(2 + 4 * static_cast<int64_t>(arcs_[state].size()));
  }

  const ByteTables& automaton_;
  const std::span<const CountedState> states_;
  const CountedRange range_;
  const int32_t bound_;
  const ArcsByState arcs_;
  support::Matrix<int32_t> number_;  // by count and state
  Vector<Pair> pairs_;
  Budget& budget_;
};

}  // namespace

PathNumbers path_numbers(const ByteTables& automaton, std::span<const uint8_t> is_counted, Budget& budget) {
  const int32_t num_states = automaton.num_states();
  const ArcsByState arcs(automaton, budget);
  const Vector<Edge> edges = edges_of(arcs, num_states, budget);
  PathNumbers found{true, least_numbers(automaton, edges, is_counted, budget),
                    most_numbers(arcs, num_states, edges, is_counted, budget)};
  // If every cycle counts something, the numbers of a state follow from those of its targets.
  Vector<Edge> inside(budget);
  std::ranges::copy_if(edges, std::back_inserter(inside), [&](const Edge& edge) { return !is_counted[edge.target]; });
  found.is_exact = bottom_up(num_states, inside, budget).size() == static_cast<size_t>(num_states);
  ContiguityCheck exactness(automaton, arcs, is_counted, found, budget);
  for (int32_t state = 0; state < num_states && found.is_exact; ++state) {
    found.is_exact = exactness.holds(state);
    budget.spend(1 + 8 * static_cast<int64_t>(arcs[state].size()));
  }
  return found;
}

ByteTables expanded_paths(const ByteTables& automaton, std::span<const CountedState> states, int32_t start,
                          CountedRange range, int64_t dense_bytes, Budget& budget) {
  Transitions written(budget);
  Vector<int32_t> interval_of(budget);
  {
    CountedProduct pairs(automaton, states, range, budget);
    pairs.expand_all(start);
    Intervals over = over_intervals(pairs.ranges, 0, budget);
    written.final = std::move(pairs.final), written.arcs = std::move(over.arcs);
    interval_of = std::move(over.of);
  }
  return tabulated(minimize(written, budget), interval_of, 0, dense_bytes, budget);
}

}  // namespace automata
