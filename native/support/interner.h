// Interner: spans of values, each stored once and known by a number (hash-consing).
//
//     interner.push(value) ...    writes a new span after all others
//     interner.close()            its number, and whether it is new; a known span is dropped again
//     interner.close_unlisted()   its number, where the caller knows that it is new, and will find it by other means
//     interner[number]            the span
//     interner.clear()            forgets all spans
//
// Equal spans have equal numbers, so equality of sets, functions or trees is a comparison of two integers. Numbers
// count from 0 in the order of first appearance. Whatever `push` and `close` throw, the spans closed before are
// unharmed: `discard` drops what was being written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/budget.h"
#include "support/hash.h"
#include "support/hash_index.h"

namespace support {

struct Interned {
  int32_t number;
  bool is_new;
};

template <class T>
class Interner {
 public:
  explicit Interner(Budget& budget) : values_(budget), begins_(1, 0, budget), index_(budget) {}

  int32_t size() const { return static_cast<int32_t>(begins_.size()) - 1; }
  // Return the total number of values in all spans.
  int64_t num_values() const { return begins_.back(); }

  std::span<const T> operator[](int32_t number) const {
    return {values_.data() + begins_[number], static_cast<size_t>(begins_[number + 1] - begins_[number])};
  }

  size_t num_bytes() const { return bytes_of(values_, begins_) + index_.num_bytes(); }
  // Drop all spans, and give back their memory. If this throws, it must be called again before anything else.
  void clear() {
    drop(values_, begins_);
    begins_.push_back(0);
    index_.clear();
  }

  void push(const T& value) { values_.push_back(value); }
  // Return the span that is being written, for example to be sorted.
  std::span<T> open() { return {values_.data() + begins_.back(), values_.size() - begins_.back()}; }
  // Keep the first `count` values of the span that is being written.
  void truncate(size_t count) { values_.erase(values_.begin() + begins_.back() + count, values_.end()); }
  void discard() { truncate(0); }

  Interned close() {
    const std::span<const T> written = open();
    const uint32_t hash = hash_of(written);
    const int32_t known =
        index_.find(hash, [&](int32_t number) { return std::ranges::equal((*this)[number], written); });
    if (known != HashIndex::kAbsent) {
      discard();
      return {known, false};
    }
    const int32_t number = size();
    index_.reserve_one();
    begins_.push_back(static_cast<int64_t>(values_.size()));
    index_.add(hash);
    return {number, true};
  }

  int32_t close_unlisted() {
    const int32_t number = size();
    index_.reserve_one();
    begins_.push_back(static_cast<int64_t>(values_.size()));
    index_.skip();
    return number;
  }

  Interned intern(std::span<const T> span) {
    discard();
    values_.insert(values_.end(), span.begin(), span.end());
    return close();
  }

 private:
  Vector<T> values_;
  Vector<int64_t> begins_;
  HashIndex index_;
};

}  // namespace support
