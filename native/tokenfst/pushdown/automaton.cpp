#include "tokenfst/pushdown/automaton.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tokenfst/token_classes.h"

namespace tokenfst {

namespace {

// What the key of a mask is for: the first two come before the nodes of a path, the last one after them.
constexpr int32_t kKeyOfAnyRoom = -1, kKeyOfRoom = -2, kKeyOfBudget = -3;

}  // namespace

PushdownAutomaton::PushdownAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Parts parts)
    : Automaton(std::move(vocabulary)),
      parts_(std::move(parts)),
      masks_(parts_.max_masks) {
  for (const PushdownTables::Move& move : tables().moves) most_needed_ = std::max(most_needed_, move.room - move.pops);
}

int32_t PushdownAutomaton::class_of(int32_t token) const { return tokenfst::class_of(token, vocabulary(), runs()); }

bool PushdownAutomaton::has_state(const PushdownState& state) const {
  return std::ranges::all_of(state.configurations(), [&](const Configuration& each) {
    return 0 <= each.state && each.state < tables().num_states && each.stack.highest() < tables().num_symbols;
  });
}

PushdownAutomaton::Slack PushdownAutomaton::slack(const Stack& stack) const {
  if (parts_.max_depth == kNoMaxDepth) return std::numeric_limits<Slack>::max();
  return Slack{parts_.max_depth} - stack.height();
}

template <class Visit>
void PushdownAutomaton::for_each_node(const Configuration& configuration, Visit visit) const {
  int32_t node = configuration.state;
  const Stack::Cell* cell = configuration.stack.top();
  while (visit(node) && cell) {
    node = tables().child_of(node, cell->symbol());
    if (node == kDead) return;
    cell = cell->below();
  }
}

bool PushdownAutomaton::allows(const Configuration& configuration, int32_t number) const {
  bool found = false;
  for_each_node(configuration, [&](int32_t node) {
    const int32_t outcome = tables().outcome_of(node, number);
    if (outcome == kDead) return true;
    const Slack free = slack(configuration.stack);
    found = std::ranges::any_of(tables().moves_of(outcome), [&](const auto& move) { return has_room(move, free); });
    return !found;
  });
  return found;
}

bool PushdownAutomaton::is_final(const PushdownState& state) const {
  return std::ranges::any_of(state.configurations(), [&](const auto& each) { return allows(each, kEnd); });
}

bool PushdownAutomaton::allows_any(const PushdownState& state) const {
  return std::ranges::any_of(state.configurations(), [&](const Configuration& each) {
    CacheKey key;
    for_each_node(each, [&](int32_t node) { return key.push(node), true; });
    return !allowed(key.values(), slack(each.stack)).empty();
  });
}

Configuration PushdownAutomaton::moved(const Configuration& configuration, const PushdownTables::Move& move) const {
  const Stack::Cell* cell = configuration.stack.top();
  // The path of the move guarantees that the symbols are there.
  for (int32_t pops = 0; pops < move.pops; ++pops) cell = cell->below();
  Stack stack = Stack::of(cell);
  for (int32_t symbol : tables().pushed(move.push)) stack.push(symbol);
  return {move.target, std::move(stack)};
}

PushdownAutomaton::Advanced PushdownAutomaton::advance(const PushdownState& state, int32_t token) const {
  const int32_t number = class_of(token);
  if (number == kNever) return {};
  if (number == kEnd) return is_final(state) ? Advanced{end()} : Advanced{};
  if (tables().max_configurations > 1) return advance_several(state, number);
  const Configuration& configuration = state[0];
  int32_t outcome = kDead;
  for_each_node(configuration, [&](int32_t node) { return (outcome = tables().outcome_of(node, number)) == kDead; });
  if (outcome == kDead) return {};
  const PushdownTables::Move& move = tables().moves_of(outcome)[0];
  if (!has_room(move, slack(configuration.stack))) return {};
  return {PushdownState(moved(configuration, move))};
}

PushdownAutomaton::Advanced PushdownAutomaton::advance_several(const PushdownState& state, int32_t number) const {
  std::vector<Configuration> found;
  for (const Configuration& configuration : state.configurations()) {
    const Slack free = slack(configuration.stack);
    for_each_node(configuration, [&](int32_t node) {
      const int32_t outcome = tables().outcome_of(node, number);
      if (outcome == kDead) return true;
      for (const PushdownTables::Move& move : tables().moves_of(outcome)) {
        if (has_room(move, free)) found.push_back(moved(configuration, move));
      }
      return true;
    });
  }
  if (found.empty()) return {};
  PushdownState reached(std::move(found));
  if (reached.size() > static_cast<size_t>(tables().max_configurations)) return {std::nullopt, true};
  return {std::move(reached)};
}

std::optional<int64_t> PushdownAutomaton::min_tokens(const PushdownState& state, bool may_wait) const {
  int64_t least = kFar;
  for (const Configuration& configuration : state.configurations()) {
    const auto found = distance().least(configuration, may_wait);
    if (!found) return std::nullopt;
    least = std::min<int64_t>(least, *found);
  }
  // Without end tokens a text is complete where it may end.
  return least - (vocabulary().eos_ids().empty() && !(state == end()));
}

std::vector<int32_t> PushdownAutomaton::allowed(std::span<const int32_t> path, Slack slack) const {
  std::vector<int32_t> found;
  for (int32_t node : path) {
    for (const PushdownTables::Edge& edge : tables().edges_of(node)) {
      const auto moves = tables().moves_of(edge.outcome);
      if (std::ranges::any_of(moves, [&](const auto& move) { return has_room(move, slack); })) {
        found.push_back(edge.number);
      }
    }
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

PushdownAutomaton::Mask PushdownAutomaton::kept_mask(const CacheKey& key, bool may_wait) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (may_wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return nullptr;
  }
  return masks_.find(key.values());
}

PushdownAutomaton::Mask PushdownAutomaton::keep_mask(const CacheKey& key, std::span<const int32_t> numbers) {
  std::unique_lock lock(mutex_);
  if (!class_masks_) class_masks_.emplace(vocabulary(), runs(), tables().num_classes);
  lock.unlock();
  auto made = std::make_shared<const Words>(class_masks_->mask(numbers));
  lock.lock();
  masks_.insert({key.values().begin(), key.values().end()}, made);
  return made;
}

PushdownAutomaton::Mask PushdownAutomaton::mask(const Configuration& configuration, bool may_wait) {
  // With room for everything that any token needs, masks are the same.
  const Slack free = std::min<Slack>(slack(configuration.stack), most_needed_);
  const bool is_limited = parts_.max_depth != kNoMaxDepth;
  CacheKey key;
  key.push(is_limited ? kKeyOfRoom : kKeyOfAnyRoom);
  if (is_limited) key.push(static_cast<int32_t>(free));
  for_each_node(configuration, [&](int32_t node) { return key.push(node), true; });
  Mask known = kept_mask(key, may_wait);
  if (known || !may_wait) return known;
  return keep_mask(key, allowed(key.values().subspan(is_limited ? 2 : 1), free));
}

PushdownAutomaton::Mask PushdownAutomaton::mask_within(const Configuration& configuration, int64_t limit,
                                                       bool may_wait) {
  CacheKey path, key;
  for_each_node(configuration, [&](int32_t node) { return path.push(node), true; });
  const auto found = distance().after_classes(path.values(), configuration.stack, may_wait);
  if (!found) return nullptr;
  const int64_t left = limit - found->cost;
  const auto& levels = found->classes->levels;
  // All budgets between two successive levels have the same mask, and above the last one it is the mask without a
  // budget.
  const auto level = std::ranges::lower_bound(levels, left) - levels.begin();
  if (level == std::ssize(levels)) return mask(configuration, may_wait);
  const int64_t number = found->classes->number;
  key.push(kKeyOfBudget);
  for (int64_t part : {number >> 31, number & 0x7fffffff, int64_t{level}}) key.push(static_cast<int32_t>(part));
  Mask known = kept_mask(key, may_wait);
  if (known || !may_wait) return known;
  std::vector<int32_t> numbers;
  for (const ClassDistances::Class& each : found->classes->classes) {
    if (each.least < left) numbers.push_back(each.number);
  }
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  return keep_mask(key, numbers);
}

bool PushdownAutomaton::fill(const PushdownState& state, int64_t remaining, std::span<uint32_t> out, bool may_wait) {
  // Without end tokens a text is complete where it may end, and the token counted for the end is not written.
  const int64_t limit = std::clamp<int64_t>(remaining, 0, kUnlimited) + vocabulary().eos_ids().empty();
  bool is_first = true;
  for (const Configuration& configuration : state.configurations()) {
    const bool is_within = remaining != kUnlimited;
    const Mask own = is_within ? mask_within(configuration, limit, may_wait) : mask(configuration, may_wait);
    // A limit on the stack applies in addition to one on tokens.
    const bool is_limited = is_within && parts_.max_depth != kNoMaxDepth;
    const Mask low = is_limited ? mask(configuration, may_wait) : own;
    if (!own || !low) return false;
    if (is_first && own == low) {
      copy_mask(*own, out);
    } else {
      if (is_first) std::ranges::fill(out, 0u);
      for (size_t word = 0; word < own->size(); ++word) out[word] |= (*own)[word] & (*low)[word];
    }
    is_first = false;
  }
  return true;
}

void PushdownAutomaton::fill(const State& state, int64_t remaining, std::span<uint32_t> out) {
  const auto* object = std::get_if<std::shared_ptr<const StateObject>>(&state);
  const auto* known = object ? dynamic_cast<const PushdownState*>(object->get()) : nullptr;
  if (!known || !has_state(*known)) throw std::invalid_argument("a state is none of its automaton's");
  fill(*known, remaining, out, true);
}

}  // namespace tokenfst
