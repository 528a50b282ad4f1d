// Conditions: what must be true of the rest of a text, in disjunctive form.
//
//     obligation     2k: the rest of the text can be read from state k; 2k + 1: it cannot
//     alternative    obligations that must all be met, ascending; a number
//     condition      alternatives of which one must hold, ascending; a number
//
//     kFalse         no alternative
//     kTrue          one alternative, without obligations
//
// Alternatives that contradict themselves, or include another alternative, are left out. Equal conditions may still be
// written in different ways, which costs states (minimization merges them) and never correctness; what matters is that
// there are finitely many. All of them are kept, and so are the results of operations.
//
// Rejected: decision diagrams (canonical, but nearly all conditions here are true or one obligation).
#pragma once

#include <cstdint>
#include <exception>

#include "support/hash.h"
#include "support/interner.h"

namespace automata {

using support::Budget;
using support::Vector;

class TooManyAlternatives : public std::exception {
 public:
  const char* what() const noexcept override { return "a condition has too many alternatives"; }
};

class Conditions {
 public:
  static constexpr int32_t kFalse = 0, kTrue = 1;
  // The maximum number of alternatives of a condition.
  static constexpr size_t kMaxAlternatives = 4096;

  explicit Conditions(Budget& budget);

  int32_t obligation(int32_t bit);
  // The functions below throw TooManyAlternatives if the result has more than kMaxAlternatives.
  int32_t either(int32_t one, int32_t other);
  int32_t both(int32_t one, int32_t other);
  int32_t negation(int32_t condition);
  // Return the condition with a condition in place of each obligation, `replace(bit)`.
  template <class Replace>
  int32_t replaced(int32_t condition, const Replace& replace);

  // Return whether a condition holds where the text ends: nothing can be read there.
  bool holds_at_end(int32_t condition) const;

 private:
  int32_t joined(int32_t one, int32_t other);
  int32_t reduced(Vector<int32_t>& alternatives);
  bool is_part(int32_t one, int32_t of) const;

  Budget& budget_;
  support::Interner<int32_t> alternatives_, conditions_;
  support::Map<int64_t, int32_t, support::Hash> either_, both_;
  support::Map<int32_t, int32_t, support::Hash> negations_;
};

template <class Replace>
int32_t Conditions::replaced(int32_t condition, const Replace& replace) {
  // Copies, since replacing may make new conditions.
  const auto alternatives = conditions_[condition];
  const Vector<int32_t> own(alternatives.begin(), alternatives.end(), budget_);
  Vector<int32_t> bits(budget_);
  int32_t result = kFalse;
  for (const int32_t alternative : own) {
    bits.assign(alternatives_[alternative].begin(), alternatives_[alternative].end());
    int32_t left = kTrue;
    for (const int32_t bit : bits) left = both(left, replace(bit));
    result = either(result, left);
  }
  return result;
}

}  // namespace automata
