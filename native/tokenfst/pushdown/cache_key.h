// CacheKey: a key of a cache as a span of integers, written value by value; and caches with such keys.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "support/bounded_cache.h"

namespace tokenfst {

// Short keys need no allocation.
class CacheKey {
 public:
  void push(int32_t value) {
    if (size_ < short_.size()) {
      short_[size_] = value;
    } else {
      if (size_ == short_.size()) long_.assign(short_.begin(), short_.end());
      long_.push_back(value);
    }
    ++size_;
  }
  std::span<const int32_t> values() const {
    return size_ <= short_.size() ? std::span(short_.data(), size_) : std::span(long_.data(), size_);
  }

 private:
  std::array<int32_t, 24> short_;
  std::vector<int32_t> long_;
  size_t size_ = 0;
};

struct SpanHash {
  using is_transparent = void;
  size_t operator()(std::span<const int32_t> key) const { return support::hash_of(key); }
};
struct SpanEqual {
  using is_transparent = void;
  bool operator()(std::span<const int32_t> left, std::span<const int32_t> right) const {
    return std::ranges::equal(left, right);
  }
};

// Look-ups take a span; only an insertion copies it.
template <class Value>
using SpanCache = support::BoundedCache<std::vector<int32_t>, Value, SpanHash, SpanEqual>;

}  // namespace tokenfst
