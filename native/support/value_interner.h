// ValueInterner: single values, each stored once and known by a number; an Interner of spans of length one.
//
//     interner.intern(value)    return its number, and whether it is new
//     interner.find(value)      return its number, or HashIndex::kAbsent
//     interner[number]          the value
//
// Numbers count from 0 in the order of first appearance. Whatever `intern` throws, the values before it are unharmed.
#pragma once

#include <cstdint>

#include "support/budget.h"
#include "support/hash.h"
#include "support/hash_index.h"
#include "support/interner.h"

namespace support {

template <class T>
class ValueInterner {
 public:
  explicit ValueInterner(Budget& budget) : values_(budget), index_(budget) {}

  int32_t size() const { return static_cast<int32_t>(values_.size()); }
  const T& operator[](int32_t number) const { return values_[number]; }
  size_t num_bytes() const { return bytes_of(values_) + index_.num_bytes(); }

  int32_t find(const T& value) const { return find(value, hash_of_value(value)); }
  Interned intern(const T& value) {
    const uint32_t hash = hash_of_value(value);
    const int32_t known = find(value, hash);
    if (known != HashIndex::kAbsent) return {known, false};
    index_.reserve_one();
    values_.push_back(value);
    index_.add(hash);
    return {size() - 1, true};
  }

 private:
  static uint32_t hash_of_value(const T& value) { return finished(mixed_value(0, value)); }
  int32_t find(const T& value, uint32_t hash) const {
    return index_.find(hash, [&](int32_t number) { return values_[number] == value; });
  }

  Vector<T> values_;
  HashIndex index_;
};

}  // namespace support
