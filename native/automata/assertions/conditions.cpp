#include "automata/assertions/conditions.h"

#include <algorithm>

namespace automata {

namespace {

// Return the key of the result of a commutative operation on two numbers.
int64_t key_of(int32_t one, int32_t other) { return int64_t{std::min(one, other)} << 32 | std::max(one, other); }

}  // namespace

Conditions::Conditions(Budget& budget)
    : budget_(budget),
      alternatives_(budget),
      conditions_(budget),
      either_(0, support::Hash(), std::equal_to<int64_t>(), budget),
      both_(0, support::Hash(), std::equal_to<int64_t>(), budget),
      negations_(0, support::Hash(), std::equal_to<int32_t>(), budget) {
  conditions_.close();
  conditions_.push(alternatives_.close().number);
  conditions_.close();
}

int32_t Conditions::obligation(int32_t bit) {
  alternatives_.discard();
  alternatives_.push(bit);
  const int32_t alternative = alternatives_.close().number;
  conditions_.discard();
  conditions_.push(alternative);
  return conditions_.close().number;
}

int32_t Conditions::either(int32_t one, int32_t other) {
  if (one == other || other == kFalse) return one;
  if (one == kFalse) return other;
  if (one == kTrue || other == kTrue) return kTrue;
  const int64_t key = key_of(one, other);
  if (const auto known = either_.find(key); known != either_.end()) return known->second;
  const auto first = conditions_[one], second = conditions_[other];
  Vector<int32_t> all(first.begin(), first.end(), budget_);
  all.insert(all.end(), second.begin(), second.end());
  return either_[key] = reduced(all);
}

int32_t Conditions::both(int32_t one, int32_t other) {
  if (one == kTrue || other == kFalse) return other;
  if (other == kTrue || one == kFalse || one == other) return one;
  const int64_t key = key_of(one, other);
  if (const auto known = both_.find(key); known != both_.end()) return known->second;
  Vector<int32_t> all(budget_);
  for (const int32_t first : conditions_[one]) {
    for (const int32_t second : conditions_[other]) {
      const int32_t both = joined(first, second);
      if (both >= 0) all.push_back(both);
    }
    if (all.size() > kMaxAlternatives) {
      std::ranges::sort(all);
      const auto repeated = std::ranges::unique(all);
      all.erase(repeated.begin(), repeated.end());
      if (all.size() > kMaxAlternatives) throw TooManyAlternatives();
    }
  }
  return both_[key] = reduced(all);
}

// Return the alternative with the obligations of two; -1 if they contradict each other.
int32_t Conditions::joined(int32_t one, int32_t other) {
  alternatives_.discard();
  const auto add = [&](int32_t bit) {
    const auto open = alternatives_.open();
    if (open.empty() || open.back() != bit) alternatives_.push(bit);
  };
  const size_t num_first = alternatives_[one].size(), num_second = alternatives_[other].size();
  budget_.spend(4 + static_cast<int64_t>(num_first + num_second));
  size_t first = 0, second = 0;
  while (first < num_first || second < num_second) {
    const bool takes_first =
        second == num_second || (first < num_first && alternatives_[one][first] < alternatives_[other][second]);
    add(takes_first ? alternatives_[one][first++] : alternatives_[other][second++]);
  }
  const auto bits = alternatives_.open();
  for (size_t at = 1; at < bits.size(); ++at) {
    if (bits[at - 1] % 2 == 0 && bits[at] == bits[at - 1] + 1) return -1;
  }
  return alternatives_.close().number;
}

// Return the condition of some alternatives, without those that include another.
int32_t Conditions::reduced(Vector<int32_t>& alternatives) {
  std::ranges::sort(alternatives, {},
                    [&](int32_t alternative) { return std::pair(alternatives_[alternative].size(), alternative); });
  size_t kept = 0;
  for (const int32_t alternative : alternatives) {
    budget_.spend(4 + 4 * static_cast<int64_t>(kept));
    const auto includes = [&](int32_t other) { return is_part(other, alternative); };
    if (std::any_of(alternatives.begin(), alternatives.begin() + kept, includes)) continue;
    alternatives[kept++] = alternative;
  }
  if (kept > kMaxAlternatives) throw TooManyAlternatives();
  alternatives.resize(kept);
  std::ranges::sort(alternatives);
  return conditions_.intern(alternatives).number;
}

bool Conditions::is_part(int32_t one, int32_t of) const {
  return std::ranges::includes(alternatives_[of], alternatives_[one]);
}

int32_t Conditions::negation(int32_t condition) {
  if (const auto known = negations_.find(condition); known != negations_.end()) return known->second;
  int32_t result = kTrue;
  const auto alternatives = conditions_[condition];
  const Vector<int32_t> own(alternatives.begin(), alternatives.end(), budget_);
  Vector<int32_t> bits(budget_);
  for (const int32_t alternative : own) {
    bits.assign(alternatives_[alternative].begin(), alternatives_[alternative].end());
    int32_t some = kFalse;
    for (const int32_t bit : bits) some = either(some, obligation(bit ^ 1));
    result = both(result, some);
  }
  return negations_[condition] = result;
}

bool Conditions::holds_at_end(int32_t condition) const {
  return std::ranges::any_of(conditions_[condition], [&](int32_t alternative) {
    return std::ranges::all_of(alternatives_[alternative], [](int32_t bit) { return bit % 2 == 1; });
  });
}

}  // namespace automata
