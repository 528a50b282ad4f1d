#include "tokenfst/lazy/token_characters.h"

#include <algorithm>

#include "support/utf8.h"

namespace tokenfst {

using support::kWhole;

namespace {

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

TokenCharacters::TokenCharacters(const Vocabulary& vocabulary) : sets_(vocabulary.size()), lengths_(vocabulary.size()) {
  constexpr CharacterSet kAll{{~0u, ~0u, ~0u, ~0u}, support::kAllKinds};
  int32_t longest = 0;
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const auto text = vocabulary.token(token);
    const CharacterPrefix prefix = prefix_over(kAll, text);
    if (!prefix.is_whole) continue;
    lengths_[token] = prefix.length;
    longest = std::max(longest, prefix.length);
    for (size_t place = 0; place < text.size(); ++place) {
      const uint8_t byte = text[place];
      if (byte < 0x80) {
        support::set_bit(sets_[token].ascii, byte);
      } else {
        sets_[token].beyond |= support::kOther;
        const bool is_complete =
            support::kAfterLead[byte] != kWhole && place + support::kToCome[support::kAfterLead[byte]] < text.size();
        if (is_complete) sets_[token].beyond |= kind_at(text, place);
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

}  // namespace tokenfst
