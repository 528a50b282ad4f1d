// Sets of numbers as sorted lists, for sets that are small or rarely change.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/budget.h"

namespace automata {

using support::Vector;

// One list for each key.
using NumberLists = Vector<Vector<int32_t>>;

inline void sort_unique(Vector<int32_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// Add a number; return whether it is new.
inline bool include(Vector<int32_t>& numbers, int32_t number) {
  const auto place = std::ranges::lower_bound(numbers, number);
  if (place != numbers.end() && *place == number) return false;
  numbers.insert(place, number);
  return true;
}

// Add the numbers of another set; return whether any of them is new.
inline bool include(Vector<int32_t>& numbers, const Vector<int32_t>& more) {
  if (std::ranges::includes(numbers, more)) return false;
  Vector<int32_t> together(numbers.get_allocator());
  std::ranges::set_union(numbers, more, std::back_inserter(together));
  numbers = std::move(together);
  return true;
}

}  // namespace automata
