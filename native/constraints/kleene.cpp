#include "constraints/kleene.h"

#include <algorithm>

namespace constraints {

namespace {

Truth negated(Truth truth) {
  if (truth == Truth::kUnknown) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

}  // namespace

int32_t KleeneFormula::add(const Step& step) {
  steps_.push_back(step);
  if (step.kind == Kind::kPlace) num_cuts_ = std::max(num_cuts_, step.first + 1);
  if (step.kind == Kind::kMultiple) num_multiples_ = std::max(num_multiples_, step.first + 1);
  return num_steps() - 1;
}

int32_t KleeneFormula::join(Kind kind, std::span<const int32_t> parts) {
  const auto first = static_cast<int32_t>(parts_.size());
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return add({kind, first, static_cast<int32_t>(parts_.size())});
}

Truth KleeneFormula::operator()(const Known& known) const {
  std::vector<Truth> values;
  values.reserve(steps_.size());
  for (const Step& step : steps_) values.push_back(value(step, known, values));
  return values.back();
}

Truth KleeneFormula::value(const Step& step, const Known& known, std::span<const Truth> values) const {
  switch (step.kind) {
    case Kind::kConstant:
      return step.first ? Truth::kTrue : Truth::kFalse;
    case Kind::kPlace: {
      const int32_t possible = known.places[step.first];
      if (!(possible & ~step.last)) return Truth::kTrue;
      return possible & step.last ? Truth::kUnknown : Truth::kFalse;
    }
    case Kind::kInteger:
      return known.integer;
    case Kind::kPlain:
      return known.plain;
    case Kind::kMultiple:
      return known.multiples[step.first];
    case Kind::kNot:
      return negated(values[step.first]);
    case Kind::kEvery:
    case Kind::kSome:
      break;
  }
  const Truth decisive = step.kind == Kind::kSome ? Truth::kTrue : Truth::kFalse;
  Truth found = negated(decisive);
  for (int32_t at = step.first; at < step.last; ++at) {
    const Truth part = values[parts_[at]];
    if (part == decisive) return decisive;
    if (part == Truth::kUnknown) found = part;
  }
  return found;
}

}  // namespace constraints
