// NameSet: a set of the names that an object lists, by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/hash.h"

namespace constraints {

// The most names that an object may list where sets of them are kept.
inline constexpr int32_t kMaxListed = 2048;

struct NameSet {
  std::array<uint64_t, kMaxListed / 64> words{};

  static NameSet first(int32_t count) {
    NameSet names;
    for (int32_t name = 0; name < count; ++name) names.add(name);
    return names;
  }

  bool operator[](int32_t name) const { return words[name / 64] >> name % 64 & 1; }
  void add(int32_t name) { words[name / 64] |= uint64_t{1} << name % 64; }
  void remove(int32_t name) { words[name / 64] &= ~(uint64_t{1} << name % 64); }
  bool meets(const NameSet& other) const {
    uint64_t both = 0;
    for (size_t word = 0; word < words.size(); ++word) both |= words[word] & other.words[word];
    return both != 0;
  }
  NameSet operator|(const NameSet& other) const {
    NameSet either;
    for (size_t word = 0; word < words.size(); ++word) either.words[word] = words[word] | other.words[word];
    return either;
  }
  NameSet without(const NameSet& other) const {
    NameSet rest;
    for (size_t word = 0; word < words.size(); ++word) rest.words[word] = words[word] & ~other.words[word];
    return rest;
  }
  bool operator==(const NameSet&) const = default;

  size_t hash() const { return support::hash_of(std::span<const uint64_t>(words)); }
};

}  // namespace constraints
