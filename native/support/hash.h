// Hash: a multiplicative hash of 64-bit words, for tables with a power of two of slots.
#pragma once

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

// The high bits of a product are its best.
constexpr uint32_t finished(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// The bits of a value of at most eight bytes. Wider ones overload it.
template <class T>
  requires(sizeof(T) <= 8 && std::has_unique_object_representations_v<T>)
uint64_t hash_word(const T& value) {
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

template <class T>
uint32_t hash_of(std::span<const T> values) {
  uint64_t hash = values.size();
  for (const T& value : values) hash = mixed(hash, hash_word(value));
  return finished(mixed(hash, 0));
}

}  // namespace support
