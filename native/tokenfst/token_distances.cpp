#include "tokenfst/token_distances.h"

#include <algorithm>

#include "automata/distance.h"

namespace tokenfst {

namespace {

// Return the edges of transitions without a register.
Vector<automata::Edge> plain_edges(const Transitions& transitions, int32_t num_states, Budget& budget) {
  Vector<automata::Edge> edges(budget);
  std::vector<Successor> successors;
  for (int32_t state = 0; state < num_states; ++state) {
    successors.clear();
    std::visit([&](const auto& form) { form.successors(state, successors); }, transitions);
    for (const Successor& move : successors) edges.push_back({state, static_cast<int32_t>(move.target)});
    budget.spend(static_cast<int64_t>(successors.size()) + 8);
  }
  return edges;
}

automata::DistanceSteps register_distances(const GuardedTransitions& form, bool has_end_tokens, Budget& budget) {
  const int32_t end = form.num_control_states - 1;
  Vector<automata::GuardedEdge> edges(budget);
  Vector<automata::StateValues> goals(budget);
  if (has_end_tokens) goals.push_back({end, 0, form.max_register});
  for (int32_t control_state = 0; control_state <= end; ++control_state) {
    for (const GuardedTransitions::Edge& edge : form.edges_of(control_state)) {
      if (has_end_tokens || edge.number != kEnd) {
        edges.push_back({control_state, edge.low, edge.high, edge.target, edge.action});
      } else {
        goals.push_back({control_state, edge.low, edge.high});
      }
    }
  }
  const auto pieces =
      pieces_by_distance(form.num_control_states, form.max_register, edges, goals, automata::kMaxPieces, budget);
  if (!pieces) {
    constexpr size_t kMaxBytes = automata::kMaxPieces * sizeof(automata::RegisterPiece);
    throw support::LimitExceeded(support::Limit::kMemory, static_cast<double>(kMaxBytes));
  }
  return distance_steps(form.num_control_states, form.max_register, *pieces, budget);
}

}  // namespace

TokenDistances::TokenDistances(const Transitions& transitions, std::span<const uint8_t> final, bool has_end_tokens,
                               Budget& budget) {
  if (const auto* form = std::get_if<GuardedTransitions>(&transitions)) {
    runs_ = register_distances(*form, has_end_tokens, budget);
    num_control_states_ = form->num_control_states, num_values_ = int64_t{form->max_register} + 1;
    return;
  }
  const auto num_states = static_cast<int32_t>(final.size());
  const auto edges = plain_edges(transitions, num_states, budget);
  const auto is_goal = [&](int32_t state) { return has_end_tokens ? state == num_states - 1 : final[state] != 0; };
  const auto found =
      automata::distances(num_states, edges, std::views::iota(0, num_states) | std::views::filter(is_goal), budget);
  least_.assign(found.begin(), found.end());
}

int32_t TokenDistances::of_value(int64_t state) const {
  const int64_t key = state % num_control_states_ * num_values_ + state / num_control_states_;
  return runs_.value[std::ranges::upper_bound(runs_.key, key) - runs_.key.begin() - 1];
}

std::vector<int32_t> TokenDistances::by_state(int64_t num_states) const {
  if (runs_.key.empty()) return least_;
  std::vector<int32_t> found(num_states);
  for (size_t run = 0; run < runs_.key.size(); ++run) {
    const int64_t end = run + 1 < runs_.key.size() ? runs_.key[run + 1] : num_states;
    for (int64_t key = runs_.key[run]; key < end; ++key) {
      found[key % num_values_ * num_control_states_ + key / num_values_] = runs_.value[run];
    }
  }
  return found;
}

}  // namespace tokenfst
