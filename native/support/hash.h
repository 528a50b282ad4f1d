// Hash: a multiplicative hash of 64-bit words, for tables with a power of two of slots.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace support {

constexpr uint64_t kHashFactor = 0x9E3779B97F4A7C15ull;  // 2^64 divided by the golden ratio

constexpr uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kHashFactor;
  return hash ^ (hash >> 29);
}

// Return the high bits of a product, which are the best mixed.
constexpr uint32_t finished(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// Mix in bytes word by word; many of them in several lanes, which do not wait for each other.
inline uint64_t mixed_bytes(uint64_t hash, const void* data, size_t size) {
  constexpr size_t kWord = sizeof(uint64_t), kLanes = 4;
  const auto* bytes = static_cast<const unsigned char*>(data);
  size_t at = 0;
  if (size >= 2 * kLanes * kWord) {
    uint64_t lanes[kLanes] = {hash, 1, 2, 3};
    for (; at + kLanes * kWord <= size; at += kLanes * kWord) {
      uint64_t words[kLanes];
      std::memcpy(words, bytes + at, sizeof(words));
      for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = mixed(lanes[lane], words[lane]);
    }
    hash = 0;
    for (uint64_t lane : lanes) hash = mixed(hash, lane);
  }
  for (; at + kWord <= size; at += kWord) {
    uint64_t word;
    std::memcpy(&word, bytes + at, kWord);
    hash = mixed(hash, word);
  }
  if (size - at == sizeof(uint32_t)) {
    // Most spans of numbers end like this. A copy of constant size is one load.
    uint32_t word;
    std::memcpy(&word, bytes + at, sizeof(word));
    hash = mixed(hash, word);
  } else if (at < size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, size - at);
    hash = mixed(hash, word);
  }
  return hash;
}

// Mix in a value. Values are plain records without padding.
template <class T>
  requires std::has_unique_object_representations_v<T>
uint64_t mixed_value(uint64_t hash, const T& value) {
  return mixed_bytes(hash, &value, sizeof(T));
}

// For maps of the standard library.
struct Hash {
  template <class T>
  size_t operator()(const T& value) const noexcept {
    return static_cast<size_t>(mixed_value(0, value));
  }
};

template <class T>
  requires std::has_unique_object_representations_v<T>
uint32_t hash_of(std::span<const T> values) {
  return finished(mixed(mixed_bytes(values.size(), values.data(), values.size_bytes()), 0));
}

}  // namespace support
