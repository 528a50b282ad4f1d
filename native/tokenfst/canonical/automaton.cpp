#include "tokenfst/canonical/automaton.h"

#include <algorithm>
#include <stdexcept>

#include "support/bits.h"
#include "tokenfst/masks.h"

namespace tokenfst::canonical {

namespace {

constexpr int32_t kAll = kNoEnd, kNothing = -1;
// Up to this many tokens are looked up one by one, instead of clearing all tokens that must not follow.
constexpr size_t kFew = 256;

}  // namespace

CanonicalAutomaton::CanonicalAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Tables tables, size_t max_masks)
    : Automaton(std::move(vocabulary)),
      tables_(std::move(tables)),
      needs_token_(tables_.subsets.final.size()),
      masks_(max_masks) {
  for (int32_t text_state = 0; text_state < tables_.subsets.size(); ++text_state) {
    const auto edges = tables_.subsets.of(text_state);
    needs_token_[text_state] =
        std::ranges::any_of(edges, [](const SubsetEdge& edge) { return edge.at_boundary != edge.joined; });
  }
  const int32_t last_class = tables_.class_of.empty() ? -1 : std::ranges::max(tables_.class_of);
  member_offsets_.assign(static_cast<size_t>(last_class) + 2, 0);
  for (int32_t number : tables_.class_of) {
    if (number >= 0) ++member_offsets_[number + 1];
  }
  for (size_t number = 1; number < member_offsets_.size(); ++number) {
    member_offsets_[number] += member_offsets_[number - 1];
  }
  std::vector<int32_t> place(member_offsets_.begin(), member_offsets_.end() - 1);
  members_.resize(member_offsets_.back());
  for (int32_t token = 0; token < static_cast<int32_t>(tables_.class_of.size()); ++token) {
    if (tables_.class_of[token] >= 0) members_[place[tables_.class_of[token]]++] = token;
  }
}

size_t CanonicalAutomaton::num_bytes() const {
  const size_t subsets = sizeof(SubsetEdge) * tables_.subsets.edges.size() + 4 * tables_.subsets.offsets.size();
  return subsets + 2 * tables_.subsets.final.size() +
         4 * (tables_.class_of.size() + member_offsets_.size() + members_.size());
}

int64_t CanonicalAutomaton::advance(int64_t state, int32_t token) const {
  const int32_t text_state = text_state_of(state), number = tables_.class_of[token];
  const auto edges = tables_.subsets.of(text_state);
  const auto edge = std::ranges::lower_bound(edges, number, {}, &SubsetEdge::number);
  if (number < 0 || edge == edges.end() || edge->number != number) {
    return vocabulary().is_end(token) && tables_.subsets.final[text_state] ? end_state() : -1;
  }
  const bool can_continue = edge->at_boundary != edge->joined && tables_.pairs->may_follow(token_of(state), token);
  const int32_t target = can_continue ? edge->joined : edge->at_boundary;
  if (target < 0) return -1;
  return int64_t{target} * vocabulary().size() + (needs_token_[target] ? token : 0);
}

int32_t CanonicalAutomaton::min_tokens(int64_t state) const {
  const int32_t text_state = text_state_of(state);
  if (text_state + 1 == tables_.subsets.size()) return 0;
  if (tables_.subsets.final[text_state]) return vocabulary().eos_ids().empty() ? 0 : 1;
  int32_t best = kNoEnd;
  for (const SubsetEdge& edge : tables_.subsets.of(text_state)) best = std::min(best, edge.least_at_boundary);
  best = least_conditional(text_state, token_of(state), best);
  return best == kNoEnd ? kNoEnd : best + 1;
}

// Return the least number of tokens to go after the tokens that may follow the last one, or `best` if none is lower.
int32_t CanonicalAutomaton::least_conditional(int32_t text_state, int32_t last, int32_t best) const {
  const auto blocked = tables_.pairs->after(last);
  for (const SubsetEdge& edge : tables_.subsets.of(text_state)) {
    if (edge.least_joined >= best) continue;
    const bool can_continue = std::ranges::any_of(members(edge.number), [&](int32_t token) {
      return Pairs::is_outside(blocked, tables_.pairs->position[token]);
    });
    if (can_continue) best = edge.least_joined;
  }
  return best;
}

// All budgets between two successive numbers of a text state's edges have the same mask.
CanonicalAutomaton::MaskKey CanonicalAutomaton::key_of(int32_t text_state, int64_t remaining) const {
  if (remaining == kUnlimited) return {text_state, kAll};
  int32_t level = kNothing;
  bool all_fit = true;
  const auto look_at = [&](int32_t least) {
    if (least == kNoEnd) return;
    if (least < remaining) {
      level = std::max(level, least);
    } else {
      all_fit = false;
    }
  };
  for (const SubsetEdge& edge : tables_.subsets.of(text_state)) {
    look_at(edge.least_at_boundary);
    look_at(edge.least_joined);
  }
  if (tables_.subsets.final[text_state]) look_at(0);
  return {text_state, all_fit ? kAll : level};
}

CanonicalAutomaton::TextStateMasks CanonicalAutomaton::made(const MaskKey& key) const {
  TextStateMasks found{Words(vocabulary().num_words()), {}, {}};
  std::vector<int32_t> conditional;
  const auto fits = [&](int32_t least) { return least != kNoEnd && (key.level == kAll || least <= key.level); };
  for (const SubsetEdge& edge : tables_.subsets.of(key.text_state)) {
    const auto own = members(edge.number);
    if (fits(edge.least_at_boundary)) {
      for (int32_t token : own) support::set_bit(found.always, static_cast<uint32_t>(token));
    }
    if (fits(edge.least_joined) && edge.at_boundary != edge.joined)
      conditional.insert(conditional.end(), own.begin(), own.end());
  }
  if (tables_.subsets.final[key.text_state] && fits(0)) {
    std::ranges::transform(found.always, vocabulary().eos_words(), found.always.begin(), std::bit_or());
  }
  if (conditional.size() <= kFew) {
    found.few = std::move(conditional);
  } else {
    found.conditional.resize(vocabulary().num_words());
    for (int32_t token : conditional) support::set_bit(found.conditional, static_cast<uint32_t>(token));
  }
  return found;
}

void CanonicalAutomaton::write(const TextStateMasks& masks, int32_t last, std::span<uint32_t> out) const {
  const Pairs& pairs = *tables_.pairs;
  const auto blocked = pairs.after(last);
  if (masks.conditional.empty()) {
    copy_mask(masks.always, out);
    for (int32_t token : masks.few) {
      if (Pairs::is_outside(blocked, pairs.position[token])) support::set_bit(out, static_cast<uint32_t>(token));
    }
    return;
  }
  copy_mask(masks.conditional, out);
  for (const Interval& interval : blocked) {
    for (int32_t place = interval.first; place < interval.end; ++place) {
      support::clear_bit(out, static_cast<uint32_t>(pairs.token_at[place]));
    }
  }
  for (size_t word = 0; word < masks.always.size(); ++word) out[word] |= masks.always[word];
}

bool CanonicalAutomaton::fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) const {
  const auto masks = masks_.try_find(key_of(text_state_of(state), remaining));
  if (masks) write(*masks, token_of(state), out);
  return masks != nullptr;
}

void CanonicalAutomaton::fill(const State& state, int64_t remaining, std::span<uint32_t> out) {
  const auto* number = std::get_if<int64_t>(&state);
  if (!number || !has_state(*number)) throw std::invalid_argument("a state is none of its automaton's");
  const MaskKey key = key_of(text_state_of(*number), remaining);
  auto masks = masks_.find(key);
  if (!masks) masks = masks_.insert(key, std::make_shared<const TextStateMasks>(made(key)));
  write(*masks, token_of(*number), out);
}

}  // namespace tokenfst::canonical
