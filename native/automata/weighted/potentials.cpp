#include "automata/weighted/potentials.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/components.h"

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
  for (int32_t component = 0; component < graph.members.num_keys(); ++component) {
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

support::Groups components(const WeightedBuilder& automaton, Budget& budget) {
  return support::components(automaton.offsets, [&](int32_t arc) { return automaton.arcs[arc].target; }, budget);
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
