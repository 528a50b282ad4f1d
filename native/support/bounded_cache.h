// Bounded FIFO caches of values that can be recomputed: the oldest entry is evicted first.
//
//     BoundedCache    for one thread at a time
//     SharedCache     the same behind a mutex, for several threads
//
// Values are shared, so a value may be evicted while it is still read. A caller computes a value that it does not find;
// of two values for one key the first stays.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "support/hash.h"

namespace support {

template <class Key, class Value, class KeyHash = Hash, class KeyEqual = std::equal_to<Key>>
class BoundedCache {
 public:
  using Shared = std::shared_ptr<const Value>;

  explicit BoundedCache(size_t max_entries) : max_entries_(max_entries) {}

  // Return the value of a key, or null. `key` is a Key, or anything that a transparent hash takes in its place.
  template <class LikeKey>
  Shared find(const LikeKey& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }
  // Store a value; return the one that is stored for its key.
  Shared insert(Key key, Shared value) {
    if (Shared known = find(key)) return known;
    while (order_.size() >= max_entries_) {
      values_.erase(values_.find(*order_.front()));
      order_.pop_front();
    }
    order_.emplace_back();
    try {
      order_.back() = &values_.emplace(std::move(key), value).first->first;
    } catch (...) {
      order_.pop_back();
      throw;
    }
    return value;
  }
  void clear() {
    order_.clear();
    values_.clear();
  }

 private:
  const size_t max_entries_;
  std::unordered_map<Key, Shared, KeyHash, KeyEqual> values_;
  std::deque<const Key*> order_;  // oldest first; keys of the map do not move
};

template <class Key, class Value>
class SharedCache {
 public:
  using Shared = std::shared_ptr<const Value>;

  explicit SharedCache(size_t max_entries) : cache_(max_entries) {}

  Shared find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    return cache_.find(key);
  }
  // Return null also if another thread holds the lock at this moment.
  Shared try_find(const Key& key) const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock ? cache_.find(key) : nullptr;
  }
  Shared insert(const Key& key, Shared value) {
    const std::lock_guard lock(mutex_);
    return cache_.insert(key, std::move(value));
  }

 private:
  mutable std::mutex mutex_;
  BoundedCache<Key, Value> cache_;
};

}  // namespace support
