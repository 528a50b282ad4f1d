// Bits: sets of small numbers as 32-bit words. Bit `i & 31` of word `i >> 5` is number i, the layout of token masks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace support {

constexpr size_t words_for(size_t count) { return (count + 31) / 32; }

inline bool has_bit(std::span<const uint32_t> words, uint32_t number) {
  return words[number >> 5] >> (number & 31) & 1;
}
inline void set_bit(std::span<uint32_t> words, uint32_t number) { words[number >> 5] |= 1u << (number & 31); }
inline void clear_bit(std::span<uint32_t> words, uint32_t number) { words[number >> 5] &= ~(1u << (number & 31)); }
inline void flip_bit(std::span<uint32_t> words, uint32_t number) { words[number >> 5] ^= 1u << (number & 31); }

// Visit the numbers of the bits that are set, ascending.
template <class Visit>
void for_each_bit(std::span<const uint32_t> words, Visit visit) {
  for (size_t word = 0; word < words.size(); ++word) {
    for (uint32_t left = words[word]; left; left &= left - 1) {
      visit(static_cast<uint32_t>(32 * word) + static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
}

// A set of byte values.
struct ByteSet {
  uint32_t words[8] = {};

  bool operator[](uint8_t byte) const { return has_bit(words, byte); }
  void add(uint8_t byte) { set_bit(words, byte); }
  bool is_empty() const { return *this == ByteSet{}; }
  ByteSet& operator|=(const ByteSet& other) {
    for (int word = 0; word < 8; ++word) words[word] |= other.words[word];
    return *this;
  }
  ByteSet operator&(const ByteSet& other) const {
    ByteSet both;
    for (int word = 0; word < 8; ++word) both.words[word] = words[word] & other.words[word];
    return both;
  }
  ByteSet operator~() const {
    ByteSet others;
    for (int word = 0; word < 8; ++word) others.words[word] = ~words[word];
    return others;
  }
  bool operator==(const ByteSet&) const = default;
  template <class Visit>
  void for_each(Visit visit) const {
    for_each_bit(words, [&](uint32_t byte) { visit(static_cast<uint8_t>(byte)); });
  }
};

}  // namespace support
