// Kept: a bounded cache of values that can be recomputed, by keys that are spans of integers; the oldest is evicted
// first.
//
//     Key     a key while it is written
//     Kept    the entries. They are shared, so a value may be evicted while somebody still reads it
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/hash.h"

namespace tokenfst {

// Short keys need no allocation.
class Key {
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

template <class Value>
class Kept {
 public:
  explicit Kept(size_t most) : most_(most) {}

  // The value of a key, null if there is none.
  std::shared_ptr<const Value> find(std::span<const int32_t> key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }
  void keep(std::span<const int32_t> key, std::shared_ptr<const Value> value) {
    while (order_.size() >= most_) {
      values_.erase(values_.find(*order_.front()));
      order_.pop_front();
    }
    order_.emplace_back();
    try {
      const auto [place, is_new] = values_.try_emplace({key.begin(), key.end()}, std::move(value));
      order_.back() = &place->first;
      if (!is_new) order_.pop_back();
    } catch (...) {
      order_.pop_back();
      throw;
    }
  }
  void clear() {
    order_.clear();
    values_.clear();
  }

 private:
  using Values = std::vector<int32_t>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::span<const int32_t> key) const { return support::hash_of(key); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::span<const int32_t> left, std::span<const int32_t> right) const {
      return std::ranges::equal(left, right);
    }
  };

  size_t most_;
  std::unordered_map<Values, std::shared_ptr<const Value>, Hash, Equal> values_;
  std::deque<const Values*> order_;  // keys do not move
};

}  // namespace tokenfst
