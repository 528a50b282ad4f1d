// Kept: a bounded cache of values that can be recomputed; the oldest entry is evicted first.
//
// Threads may share one. A thread computes what it does not find, and of two values for one key the first stays. An
// evicted value lives on for those who hold it. The lock is held only for a look-up; `try_get` never waits for it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "support/hash.h"

namespace support {

// The hash of a plain record without padding.
struct RecordHash {
  template <class Key>
  size_t operator()(const Key& key) const {
    return static_cast<size_t>(mixed_value(0, key));
  }
};

template <class Key, class Value>
class Kept {
 public:
  using Shared = std::shared_ptr<const Value>;

  explicit Kept(size_t most) : most_(most) {}

  // The value of a key, or nothing.
  Shared get(const Key& key) const {
    const std::lock_guard lock(mutex_);
    return find(key);
  }
  // The same; also nothing if another thread holds the lock at this moment.
  Shared try_get(const Key& key) const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock ? find(key) : nullptr;
  }
  // Stores a value; returns the one that is stored for its key.
  Shared keep(const Key& key, Value&& value) {
    auto made = std::make_shared<const Value>(std::move(value));
    const std::lock_guard lock(mutex_);
    if (Shared known = find(key)) return known;
    order_.push_back(key);
    try {
      values_.emplace(key, made);
    } catch (...) {
      order_.pop_back();
      throw;
    }
    if (order_.size() > most_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
    return made;
  }

 private:
  Shared find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }

  const size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<Key, Shared, RecordHash> values_;
  std::deque<Key> order_;
};

}  // namespace support
