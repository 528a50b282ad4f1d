#include "tokenfst/lazy/token_characters.h"

#include <algorithm>
#include <bit>

#include "support/utf8.h"

namespace tokenfst {

using support::kWhole;

namespace {

uint64_t joined(const uint32_t* words) { return words[0] | uint64_t{words[1]} << 32; }

// The kind of the character that begins at a place, beyond ASCII and complete.
uint32_t kind_at(std::span<const uint8_t> text, size_t place) {
  return support::kind_of(text[place], text[place + 1], text[place] < 0xE0 ? 0 : text[place + 2]);
}

}  // namespace

CharacterPrefix prefix_over(const CharacterSet& set, std::span<const uint8_t> token) {
  support::Pending pending = kWhole;
  size_t place = 0, done = 0;  // `done` is where the last character begins
  int32_t length = 0;
  for (; place < token.size(); ++place) {
    const uint8_t byte = token[place];
    if (pending != kWhole) {
      if (byte < support::kNextLow[pending] || byte > support::kNextHigh[pending]) break;
      pending = support::kAfterContinuation[pending];
      if (pending == kWhole && !(set.beyond & kind_at(token, done))) break;
    } else if (byte < 0x80) {
      if (!set.begins(byte)) break;
    } else {
      pending = support::kAfterLead[byte];
      if (!set.beyond || pending == kWhole) break;
    }
    if (pending == kWhole) done = place + 1, ++length;
  }
  const bool is_whole = place == token.size() && place > 0;
  return {static_cast<int32_t>(done), length + (is_whole && done < token.size()), is_whole};
}

TokenCharacters::TokenCharacters(const Vocabulary& vocabulary)
    : tokens_(vocabulary.size()),
      lengths_(vocabulary.size()) {
  constexpr CharacterSet kAll{{~0u, ~0u, ~0u, ~0u}, support::kAllKinds};
  int32_t longest = 0;
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const auto text = vocabulary.token(token);
    Token& own = tokens_[token];
    if (!text.empty()) own.first = text[0], own.is_empty = false;
    const CharacterPrefix prefix = prefix_over(kAll, text);
    if (!prefix.is_whole) continue;
    lengths_[token] = prefix.length;
    longest = std::max(longest, prefix.length);
    own.low = own.high = own.beyond = 0;
    for (size_t place = 0; place < text.size(); ++place) {
      const uint8_t byte = text[place];
      if (byte < 0x80) {
        (byte < 0x40 ? own.low : own.high) |= uint64_t{1} << (byte & 0x3F);
      } else {
        own.beyond |= support::kOther;
        const bool is_complete =
            support::kAfterLead[byte] != kWhole && place + support::kToCome[support::kAfterLead[byte]] < text.size();
        if (is_complete) own.beyond |= kind_at(text, place);
      }
    }
  }
  num_up_to_.resize(longest + 1);
  for (const int32_t length : lengths_) num_up_to_[length] += length > 0;
  for (int32_t length = 1; length <= longest; ++length) num_up_to_[length] += num_up_to_[length - 1];
  by_length_.resize(num_up_to_.back());
  std::vector<int32_t> next = num_up_to_;
  for (int32_t token = vocabulary.size(); token-- > 0;) {
    if (lengths_[token] > 0) by_length_[--next[lengths_[token]]] = token;
  }
}

Words TokenCharacters::over(const CharacterSet& set) const {
  Words words(support::words_for(lengths_.size()));
  const uint64_t low = ~joined(set.ascii), high = ~joined(set.ascii + 2);
  const uint32_t beyond = ~set.beyond;
  for (size_t token = 0; token < tokens_.size(); ++token) {
    const Token& own = tokens_[token];
    const bool is_over = !((own.low & low) | (own.high & high) | (own.beyond & beyond));
    words[token >> 5] |= uint32_t{is_over} << (token & 31);
  }
  return words;
}

int32_t TokenCharacters::longest(const Words& tokens) const {
  const auto found = std::find_if(by_length_.rbegin(), by_length_.rend(), [&](int32_t token) {
    return support::has_bit(tokens, static_cast<uint32_t>(token));
  });
  return found == by_length_.rend() ? 0 : lengths_[*found];
}

std::vector<int32_t> TokenCharacters::leaving(const CharacterSet& set, const Words& over) const {
  bool begins[256];
  for (int byte = 0; byte < 256; ++byte) begins[byte] = set.begins(static_cast<uint8_t>(byte));
  std::vector<int32_t> found;
  for (size_t first = 0; first < tokens_.size(); first += 32) {
    uint32_t leaving = 0;
    for (size_t token = first; token < std::min(first + 32, tokens_.size()); ++token) {
      leaving |= uint32_t{begins[tokens_[token].first] && !tokens_[token].is_empty} << (token & 31);
    }
    for (leaving &= ~over[first / 32]; leaving; leaving &= leaving - 1) {
      found.push_back(static_cast<int32_t>(first) + std::countr_zero(leaving));
    }
  }
  return found;
}

bool TokenCharacters::may_leave_by(int32_t token, const CharacterSet& set, const support::ByteSet& bytes) const {
  // What is no text has all characters.
  const Token& own = tokens_[token];
  const bool has_ascii = (own.low & joined(bytes.words)) | (own.high & joined(bytes.words + 2));
  return has_ascii || (own.beyond & ~set.beyond);
}

}  // namespace tokenfst
