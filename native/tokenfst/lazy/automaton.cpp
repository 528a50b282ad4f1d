#include "tokenfst/lazy/automaton.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tokenfst {

namespace {

LazyAutomaton::Parts made(const LazyAutomaton::MakeParts& make_parts, Budget& budget, Budget& work) {
  budget.watch(&work);
  LazyAutomaton::Parts parts = make_parts(budget);
  budget.watch(nullptr);
  return parts;
}

}  // namespace

LazyAutomaton::Hold::Hold(LazyAutomaton& automaton, std::try_to_lock_t) : automaton_(automaton) {
  if (automaton.is_held_by_this_thread() || !automaton.mutex_.try_lock()) return;
  automaton.owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  holds_ = true;
}

LazyAutomaton::Hold::Hold(LazyAutomaton& automaton) : automaton_(automaton) {
  if (automaton.is_held_by_this_thread()) {
    throw std::runtime_error("this thread is at work on the automaton, which a signal handler cannot use meanwhile");
  }
  automaton.mutex_.lock();
  automaton.owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  holds_ = true;
}

LazyAutomaton::Hold::~Hold() {
  if (!holds_) return;
  automaton_.owner_.store(std::thread::id(), std::memory_order_relaxed);
  automaton_.mutex_.unlock();
}

LazyAutomaton::LazyAutomaton(std::shared_ptr<TextLibrary> texts, const MakeParts& make_parts, size_t max_masks,
                             Budget& work, Budget::Interrupt interrupt)
    : Automaton(texts->vocabulary()),
      budget_(work.max_bytes(), std::numeric_limits<double>::infinity(), interrupt),
      texts_(std::move(texts)),
      max_masks_(max_masks),
      parts_(made(make_parts, budget_, work)),
      machine_(*parts_.machine),
      stacks_(budget_),
      characters_(machine_, budget_),
      context_{machine_, characters_, stacks_, budget_},
      finder_(context_, *texts_, budget_),
      writer_(vocabulary().num_words()),
      cache_(budget_),
      predecessors_(budget_) {}

void LazyAutomaton::set_beginnings(std::span<const Beginning> beginnings) {
  for (const Beginning& own : beginnings) {
    const int64_t target = read(own.text, own.state);
    first_.push_back(
        {own.token, target == kNotAllowed ? NumberedConfiguration{kDead, 0} : NumberedConfiguration::of(target)});
  }
  std::ranges::sort(first_, {}, &FirstToken::token);
}

NumberedConfiguration LazyAutomaton::configuration(int64_t state) const {
  const NumberedConfiguration at = NumberedConfiguration::of(state);
  if (state < 0 || at.state >= machine_.num_states() || at.state < 0 || at.top >= stacks_.num_kept()) {
    throw std::invalid_argument("state " + std::to_string(state) + " is not one of the automaton's");
  }
  return at;
}

// Steps.

int64_t LazyAutomaton::read(std::span<const uint8_t> text, int64_t state) {
  const NumberedConfiguration from = configuration(state);
  stacks_.drop_from(stacks_.num_kept());
  Place at{from.state, from.top, stacks_.num_kept()};
  Looked looked{};
  for (const uint8_t byte : text) {
    budget_.spend(1);
    at = machine_.step(at, machine_.byte_class()[byte], stacks_, looked);
    if (at.state == kDead) return kNotAllowed;
  }
  return NumberedConfiguration{at.state, stacks_.keep(at.top)}.number();
}

support::ByteSet LazyAutomaton::bytes_after(int64_t state) {
  support::ByteSet found;
  if (state == kEndState) return found;
  const std::span<const int32_t> row = machine_.row(configuration(state).state);
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (row[column] != kDead) found |= machine_.bytes(column).all;
  }
  return found;
}

int64_t LazyAutomaton::advance(int64_t state, int64_t token) {
  if (token < 0 || token >= vocabulary().size()) return kNotAllowed;
  const auto id = static_cast<int32_t>(token);
  if (vocabulary().is_end(id)) return is_final(state) ? kEndState : kNotAllowed;
  if (state == kEndState) return kNotAllowed;
  const int64_t reached = target(state, id);
  if (reached != kNotAllowed && reached != state) keep_predecessor(reached, {state, id});
  return reached;
}

int64_t LazyAutomaton::target(int64_t state, int32_t token) {
  if (!first_.empty() && state == start()) {
    const auto known = std::ranges::lower_bound(first_, token, {}, &FirstToken::token);
    if (known != first_.end() && known->token == token) {
      return known->target.state == kDead ? kNotAllowed : known->target.number();
    }
  }
  const auto text = vocabulary().token(token);
  return text.empty() ? kNotAllowed : read(text, state);
}

// Only states whose predecessors lead back to the start get one.
void LazyAutomaton::keep_predecessor(int64_t state, Predecessor from) {
  if (predecessors_.contains(state) || state == start()) return;
  if (from.state == start() || predecessors_.contains(from.state)) predecessors_.emplace(state, from);
}

std::optional<LazyAutomaton::Predecessor> LazyAutomaton::predecessor(int64_t state) const {
  const auto found = predecessors_.find(state);
  return found == predecessors_.end() ? std::nullopt : std::optional(found->second);
}

bool LazyAutomaton::is_final(int64_t state) {
  if (state == kEndState) return true;
  const NumberedConfiguration at = configuration(state);
  Looked looked{};
  return machine_.may_end({at.state, at.top, stacks_.num_kept()}, stacks_, looked);
}

// Masks.

MaskPointer LazyAutomaton::mask(int64_t state) {
  if (MaskPointer known = cache_.find(state)) return known;
  const auto num_bytes = static_cast<int64_t>(cache_.num_bytes() + writer_.num_bytes());
  if (cache_.num_states() >= max_masks_ || num_bytes > budget_.max_bytes() / 2) forget();
  MaskPointer found = found_mask(state);
  cache_.keep(state, found);
  return found;
}

MaskPointer LazyAutomaton::found_mask(int64_t state) {
  NumberedConfiguration at = configuration(state);
  at.state = machine_.far_state(at.state, vocabulary().longest());
  if (MaskPointer known = cache_.find_context(at, stacks_)) return known;
  MaskPointer found = finder_.find(at, [&](const NumberedConfiguration& other) { return mask(other.number()); });
  if (state == start() && !first_.empty()) found = with_beginnings(*found);
  cache_.keep_context(at, stacks_, found);
  return found;
}

MaskPointer LazyAutomaton::with_beginnings(const CachedMask& mask) const {
  auto made = std::make_shared<CachedMask>(mask);
  for (const FirstToken& own : first_) {
    if (mask.allows(own.token) != (own.target.state != kDead)) made->flips.push_back(own.token);
  }
  return made;
}

void LazyAutomaton::forget() {
  cache_.clear();
  writer_.clear();
  last_mask_ = nullptr;
  if (masks_within_) masks_within_->clear();
}

bool LazyAutomaton::fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) {
  if (remaining != kUnlimited) return false;
  if (!last_mask_ || state != last_state_) {
    const CachedMask* known = cache_.find(state).get();
    if (!known) return false;
    last_state_ = state, last_mask_ = known;
  }
  writer_.write(*last_mask_, out);
  return true;
}

bool LazyAutomaton::fill(int64_t state, int64_t remaining, std::span<uint32_t> out) {
  if (remaining <= 0) {
    copy_mask({}, out);
    return false;
  }
  if (state == kEndState) {
    copy_mask(vocabulary().eos_words(), out);
    return true;
  }
  const MaskPointer own = mask(state);
  if (remaining >= kUnlimited) {
    writer_.write(*own, out);
    return true;
  }
  NumberedConfiguration at = NumberedConfiguration::of(state);
  at.state = machine_.alike(at.state, vocabulary().longest());
  // The end token is counted in any case.
  const int64_t limit = remaining + vocabulary().eos_ids().empty();
  return masks_within().write(own, at, limit, state == start() ? first_ : std::span<const FirstToken>(), out);
}

void LazyAutomaton::fill(const State& state, int64_t remaining, std::span<uint32_t> out) {
  const auto* number = std::get_if<int64_t>(&state);
  if (!number) throw std::invalid_argument("states of this automaton are numbers");
  const Hold hold(*this);
  fill(*number, remaining, out);
}

MasksWithin& LazyAutomaton::masks_within() {
  if (!masks_within_) masks_within_.emplace(context_, vocabulary(), parts_.make_distances(budget_), budget_);
  return *masks_within_;
}

int32_t LazyAutomaton::min_tokens(int64_t state) {
  if (state == kEndState) return 0;
  return masks_within().distance(configuration(state)) - vocabulary().eos_ids().empty();
}

}  // namespace tokenfst
