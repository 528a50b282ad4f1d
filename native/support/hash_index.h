// HashIndex: finds elements that are stored elsewhere and numbered from 0, by their hashes.
//
//     index.find(hash, is_match)   the number of an element with that hash for which `is_match(number)` holds,
//                                  or kAbsent
//     index.reserve_one()          makes room for one more; the only one of these that throws
//     index.add(hash)              adds an element that is not there yet; numbers come in order, from 0
//     index.skip()                 passes over the number of an element that is never to be found
//     index.clear()                forgets all elements
//
// Open addressing with linear probing, in a power of two of slots at most half of which are taken. The high bits of a
// hash, which are the best mixed, say which slot comes first. Hashes are kept apart from the slots, in order of
// numbers: most slots that are looked at are free.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/budget.h"

namespace support {

class HashIndex {
 public:
  static constexpr int32_t kAbsent = -1;

  explicit HashIndex(Budget& budget) : hashes_(budget), slots_(kFirstSlots, kAbsent, budget) {}

  template <class IsMatch>
  int32_t find(uint32_t hash, IsMatch is_match) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = first_slot(hash, slots_);; at = (at + 1) & mask) {
      const int32_t number = slots_[at];
      if (number == kAbsent || (hashes_[number] == hash && is_match(number))) return number;
    }
  }
  void reserve_one() {
    if (hashes_.size() == hashes_.capacity()) hashes_.reserve(std::max<size_t>(64, 2 * hashes_.size()));
    if (2 * (num_taken_ + 1) > slots_.size()) grow();
  }
  void add(uint32_t hash) noexcept {
    take(slots_, hash, static_cast<int32_t>(hashes_.size()));
    hashes_.push_back(hash);
    ++num_taken_;
  }
  size_t num_bytes() const { return bytes_of(hashes_, slots_); }
  // Forget all elements, and give back their memory. If this throws, it must be called again before anything else.
  void clear() {
    drop(hashes_, slots_);
    num_taken_ = 0;
    slots_.assign(kFirstSlots, kAbsent);
  }
  void skip() noexcept { hashes_.push_back(0); }

 private:
  static constexpr size_t kFirstSlots = 256;

  static size_t first_slot(uint32_t hash, const Vector<int32_t>& slots) noexcept {
    return (hash * static_cast<uint64_t>(slots.size())) >> 32;
  }
  static void take(Vector<int32_t>& slots, uint32_t hash, int32_t number) noexcept {
    const size_t mask = slots.size() - 1;
    size_t at = first_slot(hash, slots);
    while (slots[at] != kAbsent) at = (at + 1) & mask;
    slots[at] = number;
  }
  void grow() {
    Vector<int32_t> larger(2 * slots_.size(), kAbsent, slots_.get_allocator());
    for (const int32_t number : slots_) {
      if (number != kAbsent) take(larger, hashes_[number], number);
    }
    slots_ = std::move(larger);
  }

  Vector<uint32_t> hashes_;  // by number
  Vector<int32_t> slots_;
  size_t num_taken_ = 0;
};

}  // namespace support
