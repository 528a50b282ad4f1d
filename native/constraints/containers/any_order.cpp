#include "constraints/containers/any_order.h"

namespace constraints {

namespace {

// Once `kFewStates` states are made, the search stops early if the states known so far, with the average number of
// outcomes of those made, would have more than `kManyTimes` times the outcomes that are allowed. Of 690 objects in
// MaskBench all of whose states can be made, the largest such factor is 1.
constexpr size_t kFewStates = 3;
constexpr int64_t kManyTimes = 2;

void add_flags(const std::vector<NameSet>& parts, const NameSet& names, KnownDerivatives::Flags& flags) {
  for (const NameSet& part : parts) flags.push_back(part.meets(names));
}

KnownDerivatives::Flags flags_of(const std::vector<NameSet>& parts, const NameSet& names) {
  KnownDerivatives::Flags flags;
  flags.reserve(parts.size());
  add_flags(parts, names, flags);
  return flags;
}

}  // namespace

KnownDerivatives::Known& KnownDerivatives::known(int32_t vector, Derivatives& source) {
  if (known_.size() <= static_cast<size_t>(vector)) known_.resize(vector + 1);
  if (!known_[vector]) {
    auto made = std::make_unique<Known>();
    made->described = std::make_unique<const Described>(source.described(vector));
    known_[vector] = std::move(made);
  }
  return *known_[vector];
}

int32_t KnownDerivatives::case_of(int32_t vector, const NameSet& remaining, Derivatives& source) {
  Known& own = known(vector, source);
  const auto number = static_cast<int32_t>(own.cases.size());
  const auto [found, is_new] = own.cases.try_emplace(flags_of(own.described->said, remaining), number);
  if (is_new) own.outcomes.emplace_back();
  return found->second;
}

const std::vector<VectorOutcome>& KnownDerivatives::outcomes(int32_t vector, int32_t name, int32_t number,
                                                             const NameSet& remaining, Derivatives& source) {
  auto& known_outcomes = known(vector, source).outcomes[number];
  const auto found = known_outcomes.find(name);
  if (found != known_outcomes.end()) return found->second;
  std::vector<VectorOutcome> made = source.outcomes(vector, name, remaining);
  return known_outcomes.emplace(name, std::move(made)).first->second;
}

int32_t KnownDerivatives::exit(int32_t vector, const NameSet& remaining, Derivatives& source) {
  Known& own = known(vector, source);
  Flags flags = flags_of(own.described->required, remaining);
  const auto found = own.exits.find(flags);
  if (found != own.exits.end()) return found->second;
  return own.exits[std::move(flags)] = source.exit(vector, remaining);
}

AnyOrder::AnyOrder(int32_t start, int32_t num_names, NameSet returning, Derivatives& source)
    : num_names_(num_names),
      returning_(returning),
      source_(source) {
  number({start, NameSet::first(num_names)});
}

bool AnyOrder::make(int64_t most) {
  size_t at = 0;
  while (at < reached_.size() && states.num_outcomes() <= most) {
    add(State(reached_[at++]));
    const auto made = static_cast<int64_t>(at), known = static_cast<int64_t>(reached_.size());
    if (at >= kFewStates && states.num_outcomes() * known > kManyTimes * most * made) break;
  }
  return at == reached_.size() && states.num_outcomes() <= most;
}

void AnyOrder::add(const State& state) {
  const Described& said = known_.described(state.vector, source_);
  add_listed(state, said);
  for (const OtherNames& other : said.others) {
    add_outcomes(other.outcomes, state.left);
    states.finish_move(other.name);
  }
  states.finish_state(known_.exit(state.vector, state.left, source_));
}

void AnyOrder::add_listed(const State& state, const Described& said) {
  const int32_t usual = known_.case_of(state.vector, state.left | returning_, source_);
  for (int32_t name = 0; name < num_names_; ++name) {
    if (!state.left[name]) continue;
    NameSet left = state.left;
    if (said.matter[name]) left.remove(name);
    const NameSet remaining = left | returning_;
    const bool is_usual = remaining[name];
    const int32_t number = is_usual ? usual : known_.case_of(state.vector, remaining, source_);
    add_outcomes(known_.outcomes(state.vector, name, number, remaining, source_), left);
    states.finish_move(name);
  }
}

void AnyOrder::add_outcomes(const std::vector<VectorOutcome>& outcomes, const NameSet& left) {
  for (const VectorOutcome& outcome : outcomes) states.add_outcome({outcome.value, kept(outcome.vector, left)});
}

int32_t AnyOrder::kept(int32_t vector, NameSet left) {
  return number({vector, left | returning_.without(known_.described(vector, source_).matter)});
}

int32_t AnyOrder::number(const State& state) {
  const auto [found, is_new] = numbers_.try_emplace(state, static_cast<int32_t>(reached_.size()));
  if (is_new) reached_.push_back(state);
  return found->second;
}

}  // namespace constraints
