#include "tokenfst/lazy/automaton.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tokenfst {

namespace {

// A generation whose stacks take more than an eighth of the memory, or its states more than a sixth, is followed by
// another. The two together may take half.
constexpr int64_t kShareOfStacks = 8, kShareOfStates = 6, kShareOfTwo = 2;
// The number of a state given out: the machine's state in the low bits, the cell of its stack above them.
constexpr int kStateBits = 28;
constexpr int64_t kMostStates = int64_t{1} << kStateBits, kMostCells = int64_t{1} << (62 - kStateBits);

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
      max_masks_(max_masks) {
  Parts parts = made(make_parts, budget_, work);
  make_distances_ = std::move(parts.make_distances);
  has_fixed_states_ = parts.machine->has_fixed_states(), start_ = parts.machine->start();
  current_ = numbered(0, std::make_shared<Stepped>(*this, std::move(parts.machine)));
}

LazyAutomaton::Stepped::Stepped(LazyAutomaton& automaton, std::unique_ptr<Machine> made)
    : machine(std::move(made)),
      characters(*machine, automaton.budget_),
      shared{*machine,
             characters,
             *automaton.texts_,
             automaton.budget_,
             automaton.max_masks_,
             automaton.beginnings_,
             [this, &automaton]() -> DistanceSource& {
               if (!distances) distances = automaton.make_distances_(*machine, automaton.budget_);
               return *distances;
             }},
      num_first_bytes(static_cast<int64_t>(machine->num_made_bytes())) {}

int64_t LazyAutomaton::Stepped::num_made_bytes() const {
  if (machine->has_fixed_states()) return 0;
  return static_cast<int64_t>(machine->num_made_bytes() + characters.num_bytes()) - num_first_bytes;
}

std::unique_ptr<LazyAutomaton::Numbered> LazyAutomaton::numbered(int64_t first, std::shared_ptr<Stepped> stepped,
                                                                 const MaskCounts& counts) {
  const Generation::Shared& shared = stepped->shared;
  return std::unique_ptr<Numbered>(new Numbered{first, kMostCells, std::move(stepped), Generation(shared, counts)});
}

void LazyAutomaton::set_beginnings(std::vector<Beginning> beginnings) {
  std::ranges::sort(beginnings, {}, &Beginning::token);
  beginnings_ = std::move(beginnings);
  current_ = numbered(0, current_->stepped);
}

size_t LazyAutomaton::num_bytes() const {
  return static_cast<size_t>(budget_.used_bytes()) + current_->generation.num_word_bytes() +
         (previous_ ? previous_->generation.num_word_bytes() : 0);
}

// Generations.

LazyAutomaton::Located LazyAutomaton::located(int64_t state) {
  const int64_t cell = state >> kStateBits;
  const auto own = static_cast<int32_t>(state & (kMostStates - 1));
  if (state >= 0 && (state == start() || (has_fixed_states_ && cell == Stacks::kEmpty))) {
    if (own < machine().num_states()) {
      make_room();
      return {*current_, {own, Stacks::kEmpty}};
    }
  } else if (state >= 0) {
    for (Numbered* in : {current_.get(), previous_.get()}) {
      if (in && in->first <= cell && cell < in->first + in->generation.stacks().num_kept() &&
          own < in->stepped->machine->num_states()) {
        return {*in, {own, static_cast<int32_t>(cell - in->first)}};
      }
    }
    const Numbered& oldest = previous_ ? *previous_ : *current_;
    if (cell < oldest.first) throw ForgottenState(budget_);
  }
  throw std::invalid_argument("state " + std::to_string(state) + " is not one of the automaton's");
}

int64_t LazyAutomaton::number(const Numbered& in, const NumberedConfiguration& at) const {
  support::require_at_most(at.state, kMostStates - 1);
  const bool is_shared = at.top == Stacks::kEmpty && (has_fixed_states_ || at.state == start());
  const int64_t cell = is_shared ? Stacks::kEmpty : in.first + at.top;
  if (cell >= in.end) throw ForgottenState(budget_);
  return cell << kStateBits | at.state;
}

void LazyAutomaton::make_room() {
  if (is_dropped_) return start_again(current_->first);
  const auto of_stacks = [](const Numbered& in) { return static_cast<int64_t>(in.generation.num_bytes()); };
  const int64_t stacks = of_stacks(*current_), states = current_->stepped->num_made_bytes(), own = stacks + states;
  const int64_t both = own + (previous_ ? of_stacks(*previous_) + previous_->stepped->num_made_bytes() : 0);
  const int64_t most = budget_.max_bytes();
  const int32_t num_cells = current_->generation.stacks().num_kept();
  const bool is_large =
      (stacks > most / kShareOfStacks && (num_cells > 1 || !has_fixed_states_)) || states > most / kShareOfStates;
  if (!is_large && both <= most / kShareOfTwo) return;
  last_mask_ = nullptr;
  previous_.reset();
  if (!is_large) return;
  // Texts under way may need as many cells again.
  const int64_t end = current_->first + 2 * int64_t{num_cells};
  support::require_at_most(end, kMostCells - 1);
  current_->generation.forget_masks();
  const int64_t used = has_fixed_states_ ? own : std::max(own, budget_.used_bytes());
  if (used > most / kShareOfTwo) return start_again(end);
  std::shared_ptr<Stepped> stepped = current_->stepped;
  try {
    if (!has_fixed_states_) stepped = std::make_shared<Stepped>(*this, machine().renewed());
  } catch (const support::LimitExceeded&) {
    return start_again(end);
  }
  std::unique_ptr<Numbered> made = numbered(end, std::move(stepped), current_->generation.mask_counts());
  current_->end = end;
  previous_ = std::exchange(current_, std::move(made));
}

void LazyAutomaton::start_again(int64_t first) {
  current_->first = first;
  current_->generation.clear();
  if (has_fixed_states_) return;
  is_dropped_ = true;
  current_->stepped->machine->drop_states();
  current_ = numbered(first, std::make_shared<Stepped>(*this, machine().renewed()), current_->generation.mask_counts());
  is_dropped_ = false;
}

template <class Work>
auto LazyAutomaton::within_memory(Work work) {
  try {
    return work();
  } catch (const support::LimitExceeded&) {
    last_mask_ = nullptr;
    current_->generation.forget_masks();
    if (previous_) previous_->generation.forget_masks();
    throw;
  }
}

bool LazyAutomaton::has_predecessor(int64_t state) const {
  return current_->generation.predecessors.contains(state) ||
         (previous_ && previous_->generation.predecessors.contains(state));
}

// Steps.

int64_t LazyAutomaton::read(std::span<const uint8_t> text, int64_t state) {
  const Located from = located(state);
  return within_memory([&] { return number(from.in, from.in.generation.read(text, from.at)); });
}

support::ByteSet LazyAutomaton::bytes_after(int64_t state) {
  support::ByteSet found;
  if (state == kEndState) return found;
  const Located at = located(state);
  Machine& machine = *at.in.stepped->machine;
  const std::span<const int32_t> row = machine.row(at.at.state);
  for (int32_t column = 0; column < machine.num_classes(); ++column) {
    if (row[column] != kDead) found |= machine.bytes(column).all;
  }
  return found;
}

int64_t LazyAutomaton::advance(int64_t state, int64_t token) {
  if (token < 0 || token >= vocabulary().size()) return kNotAllowed;
  const auto id = static_cast<int32_t>(token);
  if (vocabulary().is_end(id)) return is_final(state) ? kEndState : kNotAllowed;
  if (state == kEndState) return kNotAllowed;
  const Located from = located(state);
  const int64_t reached = within_memory([&] { return number(from.in, from.in.generation.target(from.at, id)); });
  // Only states whose predecessors lead back to the start get one.
  if (reached != kNotAllowed && reached != state && reached != start() && !has_predecessor(reached) &&
      (state == start() || has_predecessor(state))) {
    Numbered& in = has_fixed_states_ && reached < kMostStates ? *current_ : from.in;
    in.generation.predecessors.emplace(reached, Predecessor{state, id});
  }
  return reached;
}

std::optional<LazyAutomaton::Predecessor> LazyAutomaton::predecessor(int64_t state) const {
  for (const Numbered* in : {current_.get(), previous_.get()}) {
    if (!in) continue;
    const auto found = in->generation.predecessors.find(state);
    if (found != in->generation.predecessors.end()) return found->second;
  }
  return std::nullopt;
}

bool LazyAutomaton::is_final(int64_t state) {
  if (state == kEndState) return true;
  const Located own = located(state);
  return own.in.generation.is_final(own.at);
}

// Masks.

bool LazyAutomaton::fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) {
  if (remaining != kUnlimited) return false;
  if (!last_mask_ || state != last_state_) {
    if (state == kEndState) return false;
    const Located own = located(state);
    const CachedMask* known = own.in.generation.known_mask(own.at);
    if (!known) return false;
    last_state_ = state, last_mask_ = known, last_in_ = &own.in.generation;
  }
  last_in_->write(*last_mask_, out);
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
  last_mask_ = nullptr;  // masks may be forgotten
  const Located own = located(state);
  Generation& generation = own.in.generation;
  return within_memory([&] {
    if (remaining < kUnlimited) return generation.write_within(own.at, remaining, out);
    generation.write(*generation.mask(own.at), out);
    return true;
  });
}

void LazyAutomaton::fill(const State& state, int64_t remaining, std::span<uint32_t> out) {
  const auto* number = std::get_if<int64_t>(&state);
  if (!number) throw std::invalid_argument("states of this automaton are numbers");
  const Hold hold(*this);
  fill(*number, remaining, out);
}

int32_t LazyAutomaton::min_tokens(int64_t state) {
  if (state == kEndState) return 0;
  const Located own = located(state);
  return within_memory([&] { return own.in.generation.distance(own.at) - vocabulary().eos_ids().empty(); });
}

}  // namespace tokenfst
