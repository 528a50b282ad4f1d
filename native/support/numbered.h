// Numbered: values, each stored once and known by a number, as an interner does for spans.
//
//     numbered.number(value)    its number, and whether it is new
//     numbered[number]          the value
//
// Numbers count from 0 in the order of first appearance. Whatever `number` throws, the values before are unharmed.
#pragma once

#include <cstdint>

#include "support/budget.h"
#include "support/hash.h"
#include "support/hash_index.h"
#include "support/interner.h"

namespace support {

template <class T>
class Numbered {
 public:
  explicit Numbered(Budget& budget) : values_(budget), index_(budget) {}

  int32_t size() const { return static_cast<int32_t>(values_.size()); }
  const T& operator[](int32_t number) const { return values_[number]; }

  Interned number(const T& value) {
    const uint32_t hash = finished(mixed_value(0, value));
    const int32_t known = index_.find(hash, [&](int32_t number) { return values_[number] == value; });
    if (known != HashIndex::kAbsent) return {known, false};
    index_.reserve_one();
    values_.push_back(value);
    index_.add(hash);
    return {size() - 1, true};
  }

 private:
  Vector<T> values_;
  HashIndex index_;
};

}  // namespace support
