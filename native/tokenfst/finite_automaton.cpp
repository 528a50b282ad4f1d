#include "tokenfst/finite_automaton.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tokenfst {

FiniteAutomaton::FiniteAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Tables tables, Capacity capacity,
                                 Budget::Interrupt interrupt)
    : Automaton(std::move(vocabulary)),
      tables_(std::move(tables)),
      num_states_(std::visit([](const auto& form) { return form.num_states(); }, tables_.transitions)),
      masks_(capacity.max_masks, num_states_),
      budget_(capacity.max_bytes, std::numeric_limits<double>::infinity(), interrupt) {}

size_t FiniteAutomaton::num_bytes() const {
  const size_t transitions = std::visit([](const auto& form) { return form.num_bytes(); }, tables_.transitions);
  return transitions + tables_.final.size() + sizeof(ClassRun) * tables_.runs.size();
}

int32_t FiniteAutomaton::class_of(int32_t token) const { return tokenfst::class_of(token, vocabulary(), tables_.runs); }

bool FiniteAutomaton::is_final(int64_t state) const {
  if (const auto* form = std::get_if<GuardedTransitions>(&tables_.transitions)) return form->target(state, kEnd) >= 0;
  return tables_.final[state];
}

int64_t FiniteAutomaton::advance(int64_t state, int32_t token) const {
  const int32_t number = class_of(token);
  return std::visit([&](const auto& form) { return form.target(state, number); }, tables_.transitions);
}

std::vector<Successor> FiniteAutomaton::successors(int64_t state) const {
  std::vector<Successor> found;
  std::visit([&](const auto& form) { form.successors(state, found); }, tables_.transitions);
  return found;
}

int64_t FiniteAutomaton::alike(int64_t state) const {
  return std::visit([&](const auto& form) { return form.alike(state); }, tables_.transitions);
}

const TokenDistances& FiniteAutomaton::distances() {
  if (has_distances()) return *distances_;
  const std::lock_guard lock(mutex_);
  if (!has_distances()) {
    distances_.emplace(tables_.transitions, tables_.final, !vocabulary().eos_ids().empty(), budget_);
    has_distances_.store(true, std::memory_order_release);
  }
  return *distances_;
}

std::vector<int32_t> FiniteAutomaton::min_tokens_by_state() {
  const TokenDistances& found = distances();
  const std::lock_guard lock(mutex_);
  const support::Charge written_out(budget_, sizeof(int32_t) * num_states());
  return found.by_state(num_states());
}

const ClassMasks& FiniteAutomaton::class_masks() {
  const std::lock_guard lock(mutex_);
  if (!class_masks_) {
    budget_.charge(8 * (static_cast<size_t>(tables_.num_classes) + tables_.runs.size() + 1));
    class_masks_.emplace(vocabulary(), tables_.runs, tables_.num_classes);
  }
  return *class_masks_;
}

FiniteAutomaton::Allowed FiniteAutomaton::allowed(int64_t state) const {
  Allowed found{{alike(state), kNoLevel}, {}};
  for (const Successor& move : successors(found.key.state)) found.numbers.push_back(move.number);
  return found;
}

// All budgets between two successive distances after a state's tokens have the same mask, and above the last distance
// it is the mask without a budget.
FiniteAutomaton::Allowed FiniteAutomaton::allowed_within(int64_t state, int64_t remaining) const {
  Allowed found{{state, 0}, {}};
  const std::vector<Successor> all = successors(state);
  for (const Successor& move : all) {
    const int64_t least = (*distances_)[move.target];
    if (least >= remaining) continue;
    found.numbers.push_back(move.number);
    found.key.level = std::max(found.key.level, least + 1);
  }
  return found.numbers.size() == all.size() ? allowed(state) : found;
}

bool FiniteAutomaton::fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) const {
  if (remaining != kUnlimited && !has_distances()) return false;
  const MaskKey key = remaining == kUnlimited ? MaskKey{alike(state), kNoLevel} : allowed_within(state, remaining).key;
  return masks_.copy(key, out);
}

void FiniteAutomaton::fill(const State& state, int64_t remaining, std::span<uint32_t> out) {
  const auto* known = std::get_if<int64_t>(&state);
  if (!known || !has_state(*known)) throw std::invalid_argument("a state is none of its automaton's");
  const int64_t number = *known;
  if (fill_known(number, remaining, out)) return;
  if (remaining != kUnlimited) distances();
  const Allowed made = remaining == kUnlimited ? allowed(number) : allowed_within(number, remaining);
  masks_.keep(made.key, class_masks().mask(made.numbers), out);
}

}  // namespace tokenfst
