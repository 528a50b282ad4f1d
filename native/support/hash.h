// Hash: a multiplicative hash of 64-bit words, for tables with a power of two of slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace support {

constexpr uint64_t kHashFactor = 0x9E3779B97F4A7C15ull;  // 2^64 divided by the golden ratio

constexpr uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kHashFactor;
  return hash ^ (hash >> 29);
}

// Return the high bits of a product, which are the best mixed.
constexpr uint32_t finished(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// Mixes in a value word by word. Values are plain records without padding.
template <class T>
  requires std::has_unique_object_representations_v<T>
uint64_t mixed_value(uint64_t hash, const T& value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  for (size_t at = 0; at < sizeof(T); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof(T) - at, sizeof(uint64_t)));
    hash = mixed(hash, word);
  }
  return hash;
}

// For maps of the standard library.
struct Hash {
  template <class T>
  size_t operator()(const T& value) const noexcept {
    return static_cast<size_t>(mixed_value(0, value));
  }
};

template <class T>
uint32_t hash_of(std::span<const T> values) {
  uint64_t hash = values.size();
  for (const T& value : values) hash = mixed_value(hash, value);
  return finished(mixed(hash, 0));
}

}  // namespace support
