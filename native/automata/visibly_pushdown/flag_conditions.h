// FlagConditions: when a guarded arc is open, as decision diagrams over the flags of a rule
// (`automata/visibly_pushdown/conditions.py` says what they are for).
//
// A condition is a number: kFalse, kTrue, or 2 + that of a decision. Decisions are reduced and ordered by flag (Bryant,
// "Graph-based algorithms for Boolean function manipulation", IEEE Transactions on Computers, 1986), so that equal
// conditions have equal numbers.
//
// The functions on them have no recursion: a diagram may be as deep as there are flags.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <span>
#include <unordered_map>
#include <vector>

#include "automata/visibly_pushdown/layout.h"
#include "support/hash.h"

namespace automata {

class TooManyDecisions : public std::exception {
 public:
  const char* what() const noexcept override { return "there are too many decisions"; }
};

class FlagConditions {
 public:
  // The most decisions, and the most results that are kept for them.
  static constexpr size_t kMaxDecisions = 1 << 18, kMaxKept = 1 << 21;

  FlagConditions() = default;
  // The conditions with some decisions, as `decisions` returns them. Throw invalid_argument for any others.
  explicit FlagConditions(std::span<const Decision> decisions);

  std::span<const Decision> decisions() const { return decisions_; }
  // Return whether a number is that of a condition.
  bool has(int32_t condition) const { return 0 <= condition && condition < num_conditions(); }
  int32_t num_conditions() const { return 2 + static_cast<int32_t>(decisions_.size()); }
  const Decision& decision(int32_t condition) const { return decisions_[condition - 2]; }

  // Each returns a condition, and may throw TooManyDecisions. `flags` descend.
  int32_t all_of(std::span<const int32_t> flags);
  int32_t not_all_of(std::span<const int32_t> flags);
  int32_t both(int32_t one, int32_t other) { return choice(one, other, kFalse); }
  int32_t either(int32_t one, int32_t other) { return choice(one, kTrue, other); }
  // Return `then` where a condition holds, and `otherwise` where it does not.
  int32_t choice(int32_t condition, int32_t then, int32_t otherwise);
  // Return what remains of a condition, for the other flags, once one flag is known to be set or not.
  int32_t known(int32_t condition, int32_t flag, bool is_set);

  // Return the fewest flags with which a condition holds, descending; it is not kFalse.
  std::vector<int32_t> fewest(int32_t condition) const;

 private:
  using Key = std::array<int32_t, 3>;
  using Table = std::unordered_map<Key, int32_t, support::Hash>;
  // How a result is found: from those of two other keys, by a decision about a flag.
  struct Split {
    int32_t flag;
    Key low, high;
  };

  int32_t number(int32_t flag, int32_t low, int32_t high);
  int32_t flag_of(int32_t condition) const { return condition <= kTrue ? INT32_MAX : decision(condition).flag; }
  int32_t part(int32_t condition, int32_t flag, bool is_set) const;
  template <class AtOnce, class Divide>
  int32_t found(const Key& key, Table& table, AtOnce at_once, Divide divide);

  std::vector<Decision> decisions_;
  std::unordered_map<Key, int32_t, support::Hash> numbers_;  // by flag, low and high
  Table chosen_;                                             // by the arguments of `choice`
  Table known_;                                              // by those of `known`
};

}  // namespace automata
