#include "tokenfst/lazy/generation.h"

#include <algorithm>

namespace tokenfst {

namespace {

// About the memory of a cell of a stack.
constexpr size_t kCellBytes = 24;

}  // namespace

Generation::Generation(const Shared& shared, const MaskCounts& counts)
    : histories(shared.machine.start(), shared.budget),
      shared_(shared),
      stacks_(shared.budget),
      context_{shared.machine, shared.characters, stacks_, shared.budget},
      finder_(context_, shared.texts, shared.budget, counts),
      writer_(shared.texts.vocabulary()->num_words()),
      cache_(shared.budget) {
  read_beginnings();
}

void Generation::read_beginnings() {
  first_.clear();
  for (const Beginning& own : shared_.beginnings) {
    const auto target = read(own.text, {own.state, Stacks::kEmpty});
    first_.push_back({own.token, target.value_or(NumberedConfiguration{kDead, Stacks::kEmpty})});
  }
}

size_t Generation::num_bytes() const {
  return kCellBytes * static_cast<size_t>(stacks_.num_kept()) + histories.num_bytes();
}

// Steps.

std::optional<NumberedConfiguration> Generation::read(std::span<const uint8_t> text,
                                                      const NumberedConfiguration& from) {
  Machine& machine = shared_.machine;
  stacks_.drop_from(stacks_.num_kept());
  Place at{from.state, from.top, stacks_.num_kept()};
  Looked looked{};
  for (const uint8_t byte : text) {
    shared_.budget.spend(1);
    at = machine.step(at, machine.byte_class()[byte], stacks_, looked);
    if (at.state == kDead) return std::nullopt;
  }
  return NumberedConfiguration{at.state, stacks_.keep(at.top)};
}

std::optional<NumberedConfiguration> Generation::target(const NumberedConfiguration& from, int32_t token) {
  if (!first_.empty() && from == start()) {
    const auto known = std::ranges::lower_bound(first_, token, {}, &FirstToken::token);
    if (known != first_.end() && known->token == token) {
      return known->target.state == kDead ? std::nullopt : std::optional(known->target);
    }
  }
  const auto text = shared_.texts.vocabulary()->token(token);
  return text.empty() ? std::nullopt : read(text, from);
}

NumberedConfiguration Generation::configuration(int32_t state, std::span<const int32_t> symbols) {
  int32_t top = Stacks::kEmpty;
  for (size_t left = symbols.size(); left > 0; --left) top = stacks_.push(symbols[left - 1], top);
  return {state, top};
}

bool Generation::is_final(const NumberedConfiguration& at) {
  Looked looked{};
  return shared_.machine.may_end({at.state, at.top, stacks_.num_kept()}, stacks_, looked);
}

// Masks.

MaskPointer Generation::mask(const NumberedConfiguration& at) {
  if (MaskPointer known = cache_.find(at.number())) return known;
  const auto num_bytes = static_cast<int64_t>(cache_.num_bytes() + writer_.num_bytes());
  const int64_t most = shared_.budget.max_bytes(), in_all = shared_.budget.used_bytes() + int64_t(num_word_bytes());
  if (cache_.num_states() >= shared_.max_masks || num_bytes > most / 2 || in_all > most) forget_masks();
  MaskPointer found = found_mask(at);
  cache_.keep(at.number(), found);
  return found;
}

MaskPointer Generation::found_mask(NumberedConfiguration at) {
  const bool is_start = at == start();
  at.state = shared_.machine.far_state(at.state, shared_.texts.vocabulary()->longest());
  if (MaskPointer known = cache_.find_context(at, stacks_)) return known;
  MaskPointer found = finder_.find(at, [&](const NumberedConfiguration& other) { return mask(other); });
  if (is_start && !first_.empty()) found = with_beginnings(*found);
  cache_.keep_context(at, stacks_, found);
  return found;
}

MaskPointer Generation::with_beginnings(const CachedMask& mask) {
  auto made = std::make_shared<CachedMask>(mask);
  for (const FirstToken& own : first_) {
    if (mask.allows(own.token) != (own.target.state != kDead)) made->flips.push_back(own.token);
  }
  return made;
}

bool Generation::write_within(const NumberedConfiguration& at, int64_t remaining, std::span<uint32_t> out) {
  const Vocabulary& vocabulary = *shared_.texts.vocabulary();
  const auto first = at == start() ? first_ : std::span<const FirstToken>();
  // Distances count an end token even if the vocabulary has none.
  const int64_t limit = remaining + vocabulary.eos_ids().empty();
  if (first.empty() && masks_within().is_ample(at, limit)) {
    write(*mask(at), out);
    return true;
  }
  NumberedConfiguration alike = at;
  int32_t kept = at.state;
  if (first.empty() && masks_within().is_even(at.state)) {
    kept = shared_.machine.far_state(at.state, vocabulary.longest());
  } else if (first.empty()) {
    const Machine::Alike found = shared_.machine.alike(at.state);
    if (found.longest >= vocabulary.longest()) kept = alike.state = found.state;
  }
  return masks_within().write(alike, kept, limit, first, out);
}

MasksWithin& Generation::masks_within() {
  if (!masks_within_) {
    masks_within_.emplace(
        context_, shared_.texts, shared_.distances(), [this](const NumberedConfiguration& at) { return mask(at); },
        shared_.budget);
  }
  return *masks_within_;
}

void Generation::clear() {
  forget_masks();
  masks_within_.reset();
  histories.clear();
  stacks_.clear();
}

void Generation::forget_masks() {
  cache_.clear();
  writer_.clear();
  if (masks_within_) masks_within_->clear();
}

}  // namespace tokenfst
