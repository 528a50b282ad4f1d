// TokenCharacters: the characters of which each token of a vocabulary consists, so that the tokens over any set of
// characters are found without reading their bytes.
//
// Most patterns take or leave groups of characters as a whole: digits, small letters, spaces. The tokens of a
// vocabulary have characters of about a hundred different combinations of groups. So a set takes or leaves whole runs
// of tokens, and only tokens with groups that the set cuts in two are looked at one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "support/bits.h"
#include "support/utf8.h"
#include "tokenfst/masks.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

// A set of characters: the ASCII bytes as bits, and kinds of characters beyond ASCII: none, or kOther and perhaps more.
struct CharacterSet {
  uint32_t ascii[4] = {};
  uint32_t beyond = 0;  // of support::Kind

  bool operator==(const CharacterSet&) const = default;
  bool is_empty() const { return !(ascii[0] | ascii[1] | ascii[2] | ascii[3] | beyond); }
  // Return whether all or most characters that begin with a byte are in the set.
  bool begins(uint8_t byte) const { return byte < 0x80 ? support::has_bit(ascii, byte) : beyond != 0; }
  support::ByteSet ascii_bytes() const { return {{ascii[0], ascii[1], ascii[2], ascii[3]}}; }
  bool holds(const CharacterSet& other) const {
    return !((other.ascii[0] & ~ascii[0]) | (other.ascii[1] & ~ascii[1]) | (other.ascii[2] & ~ascii[2]) |
             (other.ascii[3] & ~ascii[3]) | (other.beyond & ~beyond));
  }
};

// The prefix of a token over a set.
struct CharacterPrefix {
  int32_t size;    // in bytes, without an incomplete last character
  int32_t length;  // in characters, with an incomplete last one if it ends the token
  bool is_whole;   // whether it is the whole token, and not empty
};
CharacterPrefix prefix_over(const CharacterSet& set, std::span<const uint8_t> token);

// The tokens that begin with a character of a set, as masks: those over the set, and all others.
struct TokensBySet {
  Words over, leaving;
};

class TokenCharacters {
 public:
  explicit TokenCharacters(const Vocabulary& vocabulary);

  // Return the number of characters of a token, counting an incomplete last one; 0 if the token is empty or not text.
  int32_t length(int32_t token) const { return lengths_[token]; }
  TokensBySet split_by(const CharacterSet& set) const;
  // Return the greatest number of characters of any token of a mask.
  int32_t longest(const Words& tokens) const;
  // Return all tokens in which one of some bytes follows the longest prefix over the set, and perhaps others.
  Words leaving_by(const support::ByteSet& bytes, const CharacterSet& set) const;
  // Return the tokens of at most `length` characters, and the longer ones.
  std::span<const int32_t> up_to(int32_t length) const { return std::span(by_length_).first(num_up_to(length)); }
  std::span<const int32_t> longer(int32_t length) const { return std::span(by_length_).subspan(num_up_to(length)); }

 private:
  // The characters of a token, as bits; all bits are set if it is not text.
  struct Token {
    uint64_t low = ~uint64_t{0}, high = ~uint64_t{0};  // ASCII, from 0 and from 64 on
    uint32_t beyond = ~0u;
  };

  // Neighbouring tokens with the same groups and the same first byte.
  struct Run {
    uint16_t groups;
    uint8_t first;
    int32_t begin, end;  // in `by_groups_`
  };

  void sort_by_groups(const Vocabulary& vocabulary, std::span<const uint16_t> groups);
  void sort_by_length(int32_t longest);
  size_t num_up_to(int32_t length) const {
    return num_up_to_[std::min(static_cast<size_t>(length), num_up_to_.size() - 1)];
  }
  bool is_over(const Token& token, const CharacterSet& set) const;

  // The tokens that are not empty, by the groups that their characters belong to; and their characters, in this order.
  std::vector<int32_t> by_groups_;
  std::vector<Token> tokens_;
  std::vector<Run> runs_;
  std::vector<int32_t> lengths_;    // [V]
  std::vector<int32_t> by_length_;  // the tokens that are texts, short ones first
  std::vector<int32_t> num_up_to_;  // by length
};

}  // namespace tokenfst
