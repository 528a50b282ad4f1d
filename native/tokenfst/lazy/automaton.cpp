#include "tokenfst/lazy/automaton.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tokenfst {

namespace {

// A generation whose stacks take more than an eighth of the memory, or its states more than a sixth, is followed by
// another, unless the texts that were moved there take half of that. The two together may take half. A generation is
// crowded if three quarters are used in all, and a sixteenth by it alone. Then nothing is excepted where a text begins;
// and where states are made on demand, another generation follows whatever the shares are.
constexpr int64_t kShareOfStacks = 8, kShareOfStates = 6, kLeastShare = 16;
constexpr double kFull = 0.75;
// The number of a state given out: the machine's state in the low bits, the cell of its stack above them.
constexpr int kStateBits = 28;
constexpr int64_t kMaxStates = int64_t{1} << kStateBits, kMaxCells = int64_t{1} << (62 - kStateBits);

LazyAutomaton::Parts made(const LazyAutomaton::MakeParts& make_parts, Budget& budget, Budget& work) {
  budget.watch(&work);
  LazyAutomaton::Parts parts = make_parts(budget);
  budget.watch(nullptr);
  return parts;
}

}  // namespace

LazyAutomaton::LazyAutomaton(std::shared_ptr<TextLibrary> texts, const MakeParts& make_parts, size_t max_masks,
                             Budget& work, Budget::Interrupt interrupt)
    : Automaton(texts->vocabulary()),
      budget_(work.max_bytes(), std::numeric_limits<double>::infinity(), interrupt),
      texts_(std::move(texts)),
      max_masks_(max_masks) {
  Parts parts = made(make_parts, budget_, work);
  make_distances_ = std::move(parts.make_distances);
  has_fixed_states_ = parts.machine->has_fixed_states(), start_ = parts.machine->start();
  current_ = numbered(0, std::make_shared<Explored>(*this, std::move(parts.machine)));
  first_bytes_ = budget_.used_bytes();
}

LazyAutomaton::Explored::Explored(LazyAutomaton& automaton, std::unique_ptr<Machine> made)
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

int64_t LazyAutomaton::Explored::num_made_bytes() const {
  if (machine->has_fixed_states()) return 0;
  return static_cast<int64_t>(machine->num_made_bytes() + characters.num_bytes()) - num_first_bytes;
}

std::unique_ptr<LazyAutomaton::Numbered> LazyAutomaton::numbered(int64_t first, std::shared_ptr<Explored> explored,
                                                                 const MaskCounts& counts) {
  const Generation::Shared& shared = explored->shared;
  return std::unique_ptr<Numbered>(new Numbered{first, 0, std::move(explored), Generation(shared, counts)});
}

void LazyAutomaton::set_beginnings(std::vector<Beginning> beginnings) {
  std::ranges::sort(beginnings, {}, &Beginning::token);
  beginnings_ = std::move(beginnings);
  current_ = numbered(0, current_->explored);
}

size_t LazyAutomaton::num_bytes() const {
  return static_cast<size_t>(budget_.used_bytes()) + current_->generation.num_word_bytes() +
         (previous_ ? previous_->generation.num_word_bytes() : 0);
}

// Generations.

LazyAutomaton::Located LazyAutomaton::located(int64_t state) {
  if (moved_ && moved_->state == state && moved_->at) return {*current_, *moved_->at};
  const int64_t cell = state >> kStateBits;
  const auto own = static_cast<int32_t>(state & (kMaxStates - 1));
  const bool is_fixed = has_fixed_states_ && cell == Stacks::kEmpty && own < machine().num_states();
  if (state >= 0 && (state == start() || is_fixed)) {
    make_room(true);
    return {*current_, {own, Stacks::kEmpty}};
  }
  if (state >= 0) {
    for (Numbered* in : {current_.get(), previous_.get()}) {
      if (in && in->first <= cell && cell < in->first + in->generation.stacks().num_kept() &&
          own < in->explored->machine->num_states()) {
        return {*in, {own, static_cast<int32_t>(cell - in->first)}};
      }
    }
    const Numbered& oldest = previous_ ? *previous_ : *current_;
    if (cell < oldest.first) throw ForgottenState(budget_);
  }
  throw std::invalid_argument("state " + std::to_string(state) + " is not one of the automaton's");
}

int64_t LazyAutomaton::number(const NumberedConfiguration& at) const {
  support::require_at_most(at.state, kMaxStates - 1);
  const bool is_shared = at.top == Stacks::kEmpty && (has_fixed_states_ || at.state == start());
  const int64_t cell = is_shared ? Stacks::kEmpty : current_->first + at.top;
  support::require_at_most(cell, kMaxCells - 1);
  return cell << kStateBits | at.state;
}

NumberedConfiguration LazyAutomaton::moved(int64_t state) {
  if (!moved_ || moved_->state != state) {
    const Located from = located(state);
    const Histories* histories = previous_ ? histories_of(state) : nullptr;
    const bool is_known_here = !histories || histories == &current_->generation.histories;
    if (&from.in == current_.get() && is_known_here && !is_full(false)) return from.at;
    moved_ = described(from, state);
  } else if (moved_->at && !is_full(false)) {
    return *moved_->at;
  }
  make_room(false);
  return place(*moved_);
}

LazyAutomaton::MovedText LazyAutomaton::described(const Located& from, int64_t state) {
  MovedText text{state, Vector<int32_t>(budget_), Vector<int32_t>(budget_), Vector<int32_t>(budget_), {}, {}};
  const Stacks& stacks = from.in.generation.stacks();
  for (int32_t top = from.at.top; top != Stacks::kEmpty; top = stacks[top].below) {
    text.stack.push_back(stacks[top].symbol);
  }
  text.symbols = text.stack;
  std::ranges::sort(text.symbols);
  text.symbols.erase(std::ranges::unique(text.symbols).begin(), text.symbols.end());
  const Machine& machine = *from.in.explored->machine;
  machine.describe(from.at.state, text.descriptions);
  for (const int32_t symbol : text.symbols) machine.describe(symbol, text.descriptions);
  const Histories* histories = histories_of(state);
  if (histories) text.tokens = histories->tokens_to(state);
  return text;
}

NumberedConfiguration LazyAutomaton::place(MovedText& text) {
  const int64_t num_bytes = current_->num_bytes();
  Machine& machine = *current_->explored->machine;
  std::span<const int32_t> rest = text.descriptions;
  const int32_t state = machine.described(rest);
  Vector<int32_t> symbols(budget_), stack(budget_);
  for (size_t left = text.symbols.size(); left > 0; --left) symbols.push_back(machine.described(rest));
  for (const int32_t symbol : text.stack) {
    stack.push_back(symbols[std::ranges::lower_bound(text.symbols, symbol) - text.symbols.begin()]);
  }
  const NumberedConfiguration at = current_->generation.configuration(state, stack);
  if (text.tokens) current_->generation.histories.add_text(number(at), *text.tokens);
  current_->num_moved_bytes += current_->num_bytes() - num_bytes;
  text.at = at;
  return at;
}

bool LazyAutomaton::is_large(bool begins) const {
  const auto most = budget_.max_bytes(), stacks = static_cast<int64_t>(current_->generation.num_bytes());
  const int64_t states = current_->explored->num_made_bytes(), both = stacks + states;
  const bool is_crowded = share_used() > kFull && both > (most - first_bytes_) / kLeastShare;
  if (both <= 2 * current_->num_moved_bytes && !(begins && is_crowded)) return false;
  if (has_fixed_states_) return stacks > most / kShareOfStacks && current_->generation.stacks().num_kept() > 1;
  return stacks > most / kShareOfStacks || states > most / kShareOfStates || is_crowded;
}

// Return whether something should be dropped to make room.
bool LazyAutomaton::is_full(bool begins) const {
  if (must_restart_) return true;
  const int64_t most = budget_.max_bytes();
  if (budget_.used_bytes() <= most / kShareOfStacks) return false;
  return is_large(begins) || (previous_ && current_->num_bytes() + previous_->num_bytes() > most / 2);
}

// Return the used share of the memory beyond that of the beginning.
double LazyAutomaton::share_used() const {
  return static_cast<double>(budget_.used_bytes() - first_bytes_) /
         static_cast<double>(std::max(budget_.max_bytes() - first_bytes_, int64_t{1}));
}

void LazyAutomaton::make_room(bool begins) {
  if (!is_full(begins)) return;
  if (must_restart_) return start_again(current_->first);
  last_mask_ = nullptr;
  previous_.reset();
  if (!is_large(begins)) return;
  if (begins) moved_.reset();
  const int64_t end = current_->first + current_->generation.stacks().num_kept();
  current_->generation.forget_masks();
  const bool takes_half = current_->num_bytes() > budget_.max_bytes() / 2;
  if (takes_half || (!has_fixed_states_ && share_used() > 0.5)) return start_again(end);
  try {
    std::shared_ptr<Explored> explored = current_->explored;
    if (!has_fixed_states_) explored = std::make_shared<Explored>(*this, machine().renewed());
    previous_ = std::exchange(current_, numbered(end, std::move(explored), current_->generation.mask_counts()));
    if (moved_) moved_->at.reset();
  } catch (const support::LimitExceeded&) {
    start_again(end);
  }
}

void LazyAutomaton::start_again(int64_t first) {
  must_restart_ = true;
  if (moved_) moved_->at.reset();
  current_->first = first;
  current_->num_moved_bytes = 0;
  current_->generation.clear();
  if (!has_fixed_states_) {
    current_->explored->characters.clear();
    current_->explored->distances.reset();
    current_->explored->machine->restart();
  }
  current_->generation.read_beginnings();
  must_restart_ = false;
}

template <class Work>
auto LazyAutomaton::within_memory(const Numbered* in, Work work) {
  for (int attempt = 0;; ++attempt) {
    try {
      return work();
    } catch (const support::LimitExceeded& error) {
      last_mask_ = nullptr;
      current_->generation.forget_masks();
      if (previous_) previous_->generation.forget_masks();
      const bool drops_previous = attempt == 1 && previous_ && in == current_.get();
      if (drops_previous) previous_.reset();
      if (error.limit() == support::Limit::kMemory && (attempt == 0 || drops_previous)) continue;
      current_->num_moved_bytes = 0;  // so that another generation may begin
      throw;
    }
  }
}

const Histories* LazyAutomaton::histories_of(int64_t state) const {
  for (const Numbered* in : {current_.get(), previous_.get()}) {
    if (in && in->generation.histories.has(state)) return &in->generation.histories;
  }
  return nullptr;
}

// Steps.

int64_t LazyAutomaton::read(std::span<const uint8_t> text, int64_t state) {
  const NumberedConfiguration from = within_memory(nullptr, [&] { return moved(state); });
  return within_memory(current_.get(), [&] { return number(current_->generation.read(text, from)); });
}

support::ByteSet LazyAutomaton::bytes_after(int64_t state) {
  support::ByteSet found;
  if (state == kEndState) return found;
  const Located at = located(state);
  Machine& machine = *at.in.explored->machine;
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
  const NumberedConfiguration from = within_memory(nullptr, [&] { return moved(state); });
  return within_memory(current_.get(), [&] {
    const int64_t before = number(from), reached = number(current_->generation.target(from, id));
    if (reached != kNotAllowed) current_->generation.histories.add(reached, before, id);
    return reached;
  });
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
  return within_memory(&own.in, [&] {
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
  return within_memory(&own.in, [&] { return own.in.generation.distance(own.at) - vocabulary().eos_ids().empty(); });
}

}  // namespace tokenfst
