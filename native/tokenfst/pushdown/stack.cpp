#include "tokenfst/pushdown/stack.h"

#include <algorithm>
#include <compare>

namespace tokenfst {

std::vector<int32_t> Stack::symbols() const {
  std::vector<int32_t> found;
  found.reserve(height());
  for (const Cell* cell = top_; cell; cell = cell->below()) found.push_back(cell->symbol());
  std::ranges::reverse(found);
  return found;
}

namespace {

// Compare by height, by hash, and then symbol by symbol from the top down to the shared part.
std::strong_ordering compare(const Stack::Cell* left, const Stack::Cell* right) {
  while (left != right) {
    if (!left || !right) return left ? std::strong_ordering::greater : std::strong_ordering::less;
    if (const auto order = left->height() <=> right->height(); order != 0) return order;
    if (const auto order = left->hash() <=> right->hash(); order != 0) return order;
    if (const auto order = left->symbol() <=> right->symbol(); order != 0) return order;
    left = left->below(), right = right->below();
  }
  return std::strong_ordering::equal;
}

}  // namespace

bool operator==(const Stack& left, const Stack& right) { return compare(left.top_, right.top_) == 0; }
bool operator<(const Stack& left, const Stack& right) { return compare(left.top_, right.top_) < 0; }

}  // namespace tokenfst
