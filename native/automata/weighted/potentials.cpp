#include "automata/weighted/potentials.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/components.h"

namespace automata {

namespace {

// Rounds over a component in the log semiring. If its sums have not settled then, they are found by elimination, or are
// taken as infinite if it has more states than that.
constexpr int32_t kMaxRounds = 2000;
constexpr size_t kMaxEliminated = 128;
constexpr double kSettled = 1e-11;
// A loop that costs less, for each state of its component, has a probability of 1, but for the rounding of costs.
constexpr double kCertain = 8 / static_cast<double>(kUnitsPerOne);

struct Graph {
  const WeightedBuilder& automaton;
  support::Groups members;  // the states of each component

  Graph(const WeightedBuilder& automaton, Budget& budget)
      : automaton(automaton),
        members(components(automaton, budget)) {}
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
    for (int32_t component = 0; component < graph_.members.num_keys(); ++component) {
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

  // Return the number of symbols that lead from the states of a component to each state.
  Vector<int64_t> symbols_into(std::span<const int32_t> states) {
    Vector<int64_t> found(automaton_.num_states(), 0, budget_);
    for (int32_t state : states) {
      for (const ByteArc& arc : arcs_of(state)) found[arc.target] += arc.high - arc.low + 1;
    }
    return found;
  }

  // Return the least cost of leaving a component, or of ending in it, whatever is paid inside.
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

// Return the cost of two events together.
double both(double a, double b) {
  const double least = std::min(a, b), other = std::max(a, b);
  return std::isinf(other) ? least : least - std::log1p(std::exp(least - other));
}

// Sums of probabilities, as costs.
class Sums {
 public:
  Sums(const Graph& graph, Budget& budget)
      : graph_(graph),
        automaton_(graph.automaton),
        budget_(budget),
        found_(automaton_.num_states(), INFINITY, budget) {}

  // Return them, or nothing if some are infinite.
  std::optional<Vector<Cost>> run() {
    for (int32_t component = 0; component < graph_.members.num_keys(); ++component) {
      const auto states = graph_.members[component];
      if (!settle(states) && (states.size() > kMaxEliminated || !eliminate(states))) return std::nullopt;
    }
    Vector<Cost> units(found_.size(), kInfinite, budget_);
    for (size_t state = 0; state < found_.size(); ++state) units[state] = std::llround(found_[state] * kUnitsPerOne);
    return units;
  }

 private:
  double end_of(int32_t state) const {
    const Cost end = automaton_.final[state];
    return end == kInfinite ? INFINITY : static_cast<double>(end) / kUnitsPerOne;
  }

  // Return the cost of an arc, with all of its symbols together.
  double cost_of(int32_t arc) const {
    const auto symbols = static_cast<double>(automaton_.arcs[arc].high - automaton_.arcs[arc].low + 1);
    return static_cast<double>(automaton_.cost[arc]) / kUnitsPerOne - std::log(symbols);
  }

  // Improve the states of a component until nothing changes. Return whether that happens.
  bool settle(std::span<const int32_t> states) {
    for (int32_t round = 0; round <= kMaxRounds; ++round) {
      bool changed = false;
      for (int32_t state : states) changed |= improve(state);
      if (!changed) return true;
    }
    return false;
  }

  bool improve(int32_t state) {
    double best = end_of(state);
    budget_.spend(4 + 4 * (automaton_.offsets[state + 1] - automaton_.offsets[state]));
    for (int32_t a = automaton_.offsets[state]; a < automaton_.offsets[state + 1]; ++a) {
      best = both(best, found_[automaton_.arcs[a].target] + cost_of(a));
    }
    const double before = found_[state];
    found_[state] = best;
    return !(std::isinf(best) && std::isinf(before)) && !(std::abs(best - before) <= kSettled);
  }

  // Solve the linear equations of a component, state by state: a loop of probability p is taken 1 / (1 - p) times.
  // Return whether each loop has p < 1; otherwise sums are infinite.
  bool eliminate(std::span<const int32_t> states) {
    const size_t size = states.size();
    Vector<int32_t> place(automaton_.num_states(), -1, budget_);
    for (size_t at = 0; at < size; ++at) place[states[at]] = static_cast<int32_t>(at);
    // Within the component, and out of it or to an end.
    Vector<double> inner(size * size, INFINITY, budget_), outer(size, INFINITY, budget_);
    for (size_t at = 0; at < size; ++at) {
      outer[at] = end_of(states[at]);
      for (int32_t a = automaton_.offsets[states[at]]; a < automaton_.offsets[states[at] + 1]; ++a) {
        const int32_t target = automaton_.arcs[a].target;
        double& cost = place[target] < 0 ? outer[at] : inner[at * size + place[target]];
        cost = both(cost, cost_of(a) + (place[target] < 0 ? found_[target] : 0));
      }
    }
    for (size_t pivot = 0; pivot < size; ++pivot) {
      const double loop = inner[pivot * size + pivot];
      if (loop <= kCertain * static_cast<double>(size)) return false;
      const double again = std::log(-std::expm1(-loop));  // of taking the loop any number of times
      outer[pivot] += again;
      for (size_t to = pivot + 1; to < size; ++to) inner[pivot * size + to] += again;
      for (size_t from = pivot + 1; from < size; ++from) {
        const double into = inner[from * size + pivot];
        budget_.spend(1 + (std::isinf(into) ? 0 : 8 * static_cast<int64_t>(size - pivot)));
        if (std::isinf(into)) continue;
        outer[from] = both(outer[from], into + outer[pivot]);
        for (size_t to = pivot + 1; to < size; ++to) {
          double& cost = inner[from * size + to];
          cost = both(cost, into + inner[pivot * size + to]);
        }
      }
    }
    for (size_t at = size; at-- > 0;) {
      double& cost = found_[states[at]] = outer[at];
      for (size_t to = at + 1; to < size; ++to) cost = both(cost, inner[at * size + to] + found_[states[to]]);
    }
    return true;
  }

  const Graph& graph_;
  const WeightedBuilder& automaton_;
  Budget& budget_;
  Vector<double> found_;
};

}  // namespace

support::Groups components(const WeightedBuilder& automaton, Budget& budget) {
  return support::components(automaton.offsets, [&](int32_t arc) { return automaton.arcs[arc].target; }, budget);
}

std::optional<Vector<Cost>> potentials(const WeightedBuilder& automaton, Semiring semiring, Budget& budget) {
  const Graph graph(automaton, budget);
  if (semiring == Semiring::kLog) {
    if (auto found = Sums(graph, budget).run()) return found;
  }
  return Least(graph, Horizon::kAll, budget).run();
}

Vector<Cost> potentials_by_hubs(const WeightedBuilder& automaton, Budget& budget) {
  return *Least(Graph(automaton, budget), Horizon::kHub, budget).run();
}

}  // namespace automata
