// Csr: compressed sparse rows, made in one counting pass.
//
//     groups.offsets [K + 1]   where the group of each key begins
//     groups.order   [A]       the numbers of all elements by key, in their order within a key
#pragma once

#include <cstdint>
#include <span>

#include "support/budget.h"
#include "support/count.h"

namespace support {

struct Groups {
  Vector<int32_t> offsets, order;

  int32_t num_keys() const { return static_cast<int32_t>(offsets.size()) - 1; }
  std::span<const int32_t> operator[](int32_t key) const {
    return {order.data() + offsets[key], static_cast<size_t>(offsets[key + 1] - offsets[key])};
  }
};

// Group `count` elements by `key(i)`, which is at least 0 and below `num_keys`.
template <class Key>
Groups grouped(int32_t num_keys, size_t count, Key key, Budget& budget) {
  as_count(count);
  Groups groups{Vector<int32_t>(static_cast<size_t>(num_keys) + 1, 0, budget), Vector<int32_t>(count, budget)};
  budget.spend(static_cast<int64_t>(2 * count) + num_keys);
  int32_t* offsets = groups.offsets.data();
  for (size_t i = 0; i < count; ++i) ++offsets[key(i)];
  int32_t end = 0;
  for (int32_t k = 0; k <= num_keys; ++k) {
    end += offsets[k];
    offsets[k] = end;
  }
  // Going backwards, each element takes the last free place of its group, and offsets end up at the beginnings.
  for (size_t i = count; i-- > 0;) groups.order[--offsets[key(i)]] = static_cast<int32_t>(i);
  return groups;
}

}  // namespace support
