// UTF-8: the bytes that may follow inside a character whose first bytes have been read (RFC 3629, section 4); and kinds
// of characters.
#pragma once

#include <array>
#include <cstdint>

namespace support {

// The pending bytes of a character: one more byte; two, the first of them narrowed after E0 and after ED; three,
// narrowed after F0 and F4; or nothing.
enum Pending : uint8_t { kOne, kTwoE0, kTwo, kTwoEd, kThreeF0, kThree, kThreeF4, kWhole };

constexpr int kNumPending = 7;  // without kWhole
constexpr int kFirstLead = 0xC2, kLeadEnd = 0xF5;

// The first and the last byte that may come next, the state after it, and the number of bytes still to come.
constexpr std::array<uint8_t, kNumPending> kNextLow{0x80, 0xA0, 0x80, 0x80, 0x90, 0x80, 0x80};
constexpr std::array<uint8_t, kNumPending> kNextHigh{0xBF, 0xBF, 0xBF, 0x9F, 0xBF, 0xBF, 0x8F};
constexpr std::array<Pending, kNumPending> kAfterContinuation{kWhole, kOne, kOne, kOne, kTwo, kTwo, kTwo};
constexpr std::array<int, kNumPending + 1> kToCome{1, 2, 2, 2, 3, 3, 3, 0};

// The bytes pending after a byte that begins a character; kWhole after one that begins none.
constexpr std::array<Pending, 256> kAfterLead = [] {
  std::array<Pending, 256> pending{};
  for (int byte = 0; byte < 256; ++byte) {
    pending[byte] = byte < kFirstLead ? kWhole
                    : byte < 0xE0     ? kOne
                    : byte < 0xF0     ? kTwo
                    : byte < kLeadEnd ? kThree
                                      : kWhole;
  }
  pending[0xE0] = kTwoE0;
  pending[0xED] = kTwoEd;
  pending[0xF0] = kThreeF0;
  pending[0xF4] = kThreeF4;
  return pending;
}();

// Kinds of characters beyond ASCII, which patterns tell apart: line separators, which `.` does not match in ECMA-262;
// other whitespace, which `\S` does not match; and all others.
enum Kind : uint32_t { kOther = 1, kSpace = 2, kSeparator = 4 };
constexpr uint32_t kAllKinds = kOther | kSpace | kSeparator;

// Whether characters that begin with these two bytes are of different kinds.
constexpr bool has_kinds(uint8_t lead, uint8_t next) {
  return lead == 0xC2 || (lead == 0xE1 && next == 0x9A) || (lead == 0xE2 && (next == 0x80 || next == 0x81)) ||
         (lead == 0xE3 && next == 0x80) || (lead == 0xEF && next == 0xBB);
}

// The kind of a character from its first three bytes, or two if it has no third one.
constexpr Kind kind_of(uint8_t lead, uint8_t next, uint8_t third) {
  if (!has_kinds(lead, next)) return kOther;
  switch (lead << 8 | next) {
    case 0xE280:
      return third == 0xA8 || third == 0xA9 ? kSeparator : third <= 0x8A || third == 0xAF ? kSpace : kOther;
    case 0xE281:
      return third == 0x9F ? kSpace : kOther;
    case 0xEFBB:
      return third == 0xBF ? kSpace : kOther;
    case 0xE19A:
    case 0xE380:
      return third == 0x80 ? kSpace : kOther;
    default:
      return next == 0x85 || next == 0xA0 ? kSpace : kOther;
  }
}

}  // namespace support
