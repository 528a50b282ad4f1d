#include "automata/weighted/potentials.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/csr.h"

namespace automata {

namespace {

// Rounds over a component in the log semiring; sums that have not settled then are taken as infinite.
constexpr int32_t kMostRounds = 2000;
constexpr double kSettled = 1e-11;

struct Graph {
  const WeightedBuilder& automaton;
  support::Groups members;  // the states of each component

  Graph(const WeightedBuilder& automaton, Budget& budget)
      : automaton(automaton),
        members(grouped_states(automaton, budget)) {}

  static support::Groups grouped_states(const WeightedBuilder& automaton, Budget& budget) {
    const Vector<int32_t> component = components(automaton, budget);
    const int32_t count = component.empty() ? 0 : *std::ranges::max_element(component) + 1;
    return support::grouped(count, component.size(), [&](size_t state) { return component[state]; }, budget);
  }
  int32_t num_components() const { return static_cast<int32_t>(members.offsets.size()) - 1; }
};

// Where a least cost is looked for: in the whole rest of a text, or up to the next hub.
enum class Horizon { kAll, kHub };

// The least costs.
class Least {
 public:
  Least(const Graph& graph, Horizon horizon, Budget& budget)
      : graph_(graph),
        automaton_(graph.automaton),
        horizon_(horizon),
        budget_(budget),
        found_(automaton_.num_states(), kInfinite, budget),
        is_hub_(automaton_.num_states(), false, budget),
        changed_(budget) {}

  // Return them, or nothing if a loop lowers the cost and there are no hubs.
  std::optional<Vector<Cost>> run() {
    for (int32_t component = 0; component < graph_.num_components(); ++component) {
      const auto states = graph_.members[component];
      if (settle(states)) continue;
      if (horizon_ != Horizon::kHub) return std::nullopt;
      settle_by_hubs(states);
    }
    return std::move(found_);
  }

 private:
  std::span<const ByteArc> arcs_of(int32_t state) const {
    return {automaton_.arcs.data() + automaton_.offsets[state], automaton_.arcs.data() + automaton_.offsets[state + 1]};
  }

  // Improve the states of a component, except hubs, until nothing changes. Return whether that happens.
  bool settle(std::span<const int32_t> states) {
    for (size_t round = 0; round <= states.size() + 1; ++round) {
      changed_.clear();
      for (int32_t state : states) {
        if (!is_hub_[state] && improve(state)) changed_.push_back(state);
      }
      if (changed_.empty()) return true;
    }
    return false;
  }

  // Make states of a component hubs, one by one, until no loop between them lowers the cost.
  void settle_by_hubs(std::span<const int32_t> states) {
    const Cost exit = least_exit(states);
    const Vector<int64_t> symbols = symbols_into(states);
    for (std::span<const int32_t> candidates = states;; candidates = changed_) {
      const int32_t hub = *std::ranges::max_element(candidates, {}, [&](int32_t state) { return symbols[state]; });
      is_hub_[hub] = true;
      for (int32_t state : states) found_[state] = is_hub_[state] ? exit : kInfinite;
      if (settle(states)) return;
    }
  }

  bool improve(int32_t state) {
    Cost best = automaton_.final[state];
    budget_.spend(1 + automaton_.offsets[state + 1] - automaton_.offsets[state]);
    for (int32_t a = automaton_.offsets[state]; a < automaton_.offsets[state + 1]; ++a) {
      const Cost rest = found_[automaton_.arcs[a].target];
      if (rest != kInfinite) best = std::min(best, sum(automaton_.cost[a], rest));
    }
    const bool is_better = best < found_[state];
    found_[state] = best;
    return is_better;
  }

  // The number of symbols that lead from the states of a component to each state.
  Vector<int64_t> symbols_into(std::span<const int32_t> states) {
    Vector<int64_t> found(automaton_.num_states(), 0, budget_);
    for (int32_t state : states) {
      for (const ByteArc& arc : arcs_of(state)) found[arc.target] += arc.high - arc.low + 1;
    }
    return found;
  }

  // What it costs at least to leave a component, or to end in it, whatever is paid inside.
  Cost least_exit(std::span<const int32_t> states) {
    Vector<uint8_t> is_inside(automaton_.num_states(), false, budget_);
    for (int32_t state : states) is_inside[state] = true;
    Cost best = kInfinite;
    for (int32_t state : states) {
      best = std::min(best, automaton_.final[state]);
      for (int32_t a = automaton_.offsets[state]; a < automaton_.offsets[state + 1]; ++a) {
        const int32_t target = automaton_.arcs[a].target;
        if (!is_inside[target]) best = std::min(best, sum(automaton_.cost[a], found_[target]));
      }
    }
    return best;
  }

  const Graph& graph_;
  const WeightedBuilder& automaton_;
  const Horizon horizon_;
  Budget& budget_;
  Vector<Cost> found_;
  Vector<uint8_t> is_hub_;
  Vector<int32_t> changed_;  // the states that the last round of `settle` improved
};

// Sums of probabilities, as logarithms; none where they do not settle.
std::optional<Vector<Cost>> sums(const Graph& graph, Budget& budget) {
  const WeightedBuilder& automaton = graph.automaton;
  Vector<double> found(automaton.num_states(), INFINITY, budget);
  const auto improve = [&](int32_t state) {
    const Cost end = automaton.final[state];
    double best = end == kInfinite ? INFINITY : static_cast<double>(end) / kUnitsPerOne;
    budget.spend(4 + 4 * (automaton.offsets[state + 1] - automaton.offsets[state]));
    for (int32_t a = automaton.offsets[state]; a < automaton.offsets[state + 1]; ++a) {
      const ByteArc& arc = automaton.arcs[a];
      const double rest = found[arc.target] + static_cast<double>(automaton.cost[a]) / kUnitsPerOne -
                          std::log(static_cast<double>(arc.high - arc.low + 1));
      const double least = std::min(best, rest), other = std::max(best, rest);
      best = std::isinf(other) ? least : least - std::log1p(std::exp(least - other));
    }
    const double before = found[state];
    found[state] = best;
    return !(std::isinf(best) && std::isinf(before)) && !(std::abs(best - before) <= kSettled);
  };
  for (int32_t component = 0; component < graph.num_components(); ++component) {
    bool changed = true;
    for (int32_t round = 0; changed; ++round) {
      if (round > kMostRounds) return std::nullopt;
      changed = false;
      for (int32_t state : graph.members[component]) changed |= improve(state);
    }
  }
  Vector<Cost> units(found.size(), kInfinite, budget);
  for (size_t state = 0; state < found.size(); ++state) units[state] = std::llround(found[state] * kUnitsPerOne);
  return units;
}

}  // namespace

Vector<int32_t> components(const WeightedBuilder& automaton, Budget& budget) {
  // Tarjan 1972, without recursion: `low` is the earliest state on the path that a state leads back to.
  const int32_t num_states = automaton.num_states();
  Vector<int32_t> component(num_states, kNone, budget), order(num_states, kNone, budget), low(num_states, 0, budget),
      next(num_states, 0, budget), path(budget), open(budget);
  int32_t visited = 0, count = 0;
  for (int32_t root = 0; root < num_states; ++root) {
    if (order[root] != kNone) continue;
    path.push_back(root);
    while (!path.empty()) {
      const int32_t state = path.back();
      if (order[state] == kNone) {
        order[state] = low[state] = visited++;
        next[state] = automaton.offsets[state];
        open.push_back(state);
      }
      budget.spend(4);
      bool descends = false;
      for (; next[state] < automaton.offsets[state + 1]; ++next[state]) {
        const int32_t target = automaton.arcs[next[state]].target;
        if (order[target] == kNone) {
          path.push_back(target);
          descends = true;
          break;
        }
        if (component[target] == kNone) low[state] = std::min(low[state], low[target]);
      }
      if (descends) continue;
      path.pop_back();
      if (low[state] < order[state]) continue;
      for (int32_t member = kNone; member != state;) {
        member = open.back();
        open.pop_back();
        component[member] = count;
      }
      ++count;
    }
  }
  return component;
}

std::optional<Vector<Cost>> potentials(const WeightedBuilder& automaton, Semiring semiring, Budget& budget) {
  const Graph graph(automaton, budget);
  if (semiring == Semiring::kLog) {
    if (auto found = sums(graph, budget)) return found;
  }
  return Least(graph, Horizon::kAll, budget).run();
}

Vector<Cost> potentials_by_hubs(const WeightedBuilder& automaton, Budget& budget) {
  return *Least(Graph(automaton, budget), Horizon::kHub, budget).run();
}

}  // namespace automata
