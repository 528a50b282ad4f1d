// Interner: spans of values, each stored once and known by a number (hash-consing).
//
//     interner.push(value) ...    writes a span behind all others
//     interner.close()            its number, and whether it is new; a span that is known is dropped again
//     interner[number]            the span
//
// Equal spans have equal numbers, so equality of sets, functions or trees is a comparison of two integers. Numbers
// count from 0 in the order of first appearance. Whatever `push` and `close` throw, the spans closed before are
// unharmed: `discard` drops what was being written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "support/budget.h"
#include "support/hash.h"

namespace support {

struct Interned {
  int32_t number;
  bool is_new;
};

template <class T>
class Interner {
 public:
  explicit Interner(Budget& budget)
      : values_(budget),
        begins_(1, 0, budget),
        hashes_(budget),
        slots_(kFirstSlots, kFree, budget) {}

  int32_t size() const { return static_cast<int32_t>(hashes_.size()); }
  // How many values all spans have together.
  int64_t num_values() const { return begins_.back(); }

  std::span<const T> operator[](int32_t number) const {
    return {values_.data() + begins_[number], static_cast<size_t>(begins_[number + 1] - begins_[number])};
  }

  void push(const T& value) { values_.push_back(value); }
  // The span that is being written, to be sorted, say.
  std::span<T> open() { return {values_.data() + begins_.back(), values_.size() - begins_.back()}; }
  // Keeps the first `count` values of the span that is being written.
  void truncate(size_t count) { values_.erase(values_.begin() + begins_.back() + count, values_.end()); }
  void discard() { truncate(0); }

  Interned close() {
    const std::span<const T> written = open();
    const uint32_t hash = hash_of(written);
    size_t slot = hash & mask();
    for (; slots_[slot] != kFree; slot = (slot + 1) & mask()) {
      const int32_t known = slots_[slot];
      if (hashes_[known] == hash && std::ranges::equal((*this)[known], written)) {
        discard();
        return {known, false};
      }
    }
    const int32_t number = size();
    reserve_one();
    hashes_.push_back(hash);
    begins_.push_back(static_cast<int64_t>(values_.size()));
    for (slot = hash & mask(); slots_[slot] != kFree;) slot = (slot + 1) & mask();
    slots_[slot] = number;
    return {number, true};
  }

  Interned intern(std::span<const T> span) {
    discard();
    values_.insert(values_.end(), span.begin(), span.end());
    return close();
  }

 private:
  static constexpr int32_t kFree = -1;
  static constexpr size_t kFirstSlots = 256;

  size_t mask() const { return slots_.size() - 1; }

  // Room for one more span, so that what follows does not throw.
  void reserve_one() {
    if (hashes_.size() == hashes_.capacity()) hashes_.reserve(std::max<size_t>(64, 2 * hashes_.size()));
    if (begins_.size() == begins_.capacity()) begins_.reserve(2 * begins_.size());
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
  }
  void grow() {
    Vector<int32_t> larger(2 * slots_.size(), kFree, slots_.get_allocator());
    const size_t larger_mask = larger.size() - 1;
    for (int32_t number = 0; number < size(); ++number) {
      size_t slot = hashes_[number] & larger_mask;
      while (larger[slot] != kFree) slot = (slot + 1) & larger_mask;
      larger[slot] = number;
    }
    slots_ = std::move(larger);
  }

  Vector<T> values_;
  Vector<int64_t> begins_;
  Vector<uint32_t> hashes_;
  Vector<int32_t> slots_;  // open addressing
};

}  // namespace support
