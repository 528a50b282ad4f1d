#include "tokenfst/lazy/token_characters.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "support/utf8.h"

namespace tokenfst {

using support::kWhole;

namespace {

// Groups of characters that most patterns take or leave as a whole, as bits; and a bit for what is not text.
enum Group : uint16_t { kBeyond = 1 << 12, kBeyondApart = 1 << 13, kNoText = 1 << 14 };
constexpr size_t kNumGroups = 15;

constexpr std::array<uint16_t, 128> kGroupOf = [] {
  constexpr std::string_view kSingle = " _-.";
  std::array<uint16_t, 128> groups{};
  for (int byte = 0; byte < 128; ++byte) {
    const auto single = kSingle.find(static_cast<char>(byte));
    const int number = byte >= '0' && byte <= '9'         ? 0
                       : byte >= 'a' && byte <= 'f'       ? 1
                       : byte >= 'g' && byte <= 'z'       ? 2
                       : byte >= 'A' && byte <= 'F'       ? 3
                       : byte >= 'G' && byte <= 'Z'       ? 4
                       : single != std::string_view::npos ? 5 + static_cast<int>(single)
                       : byte == '"' || byte == '\\'      ? 9
                       : byte < 0x20 || byte == 0x7F      ? 10
                                                          : 11;
    groups[byte] = static_cast<uint16_t>(1 << number);
  }
  return groups;
}();

uint16_t beyond_groups(uint32_t beyond) {
  return static_cast<uint16_t>((beyond & support::kOther ? kBeyond : 0) |
                               (beyond & ~support::kOther ? kBeyondApart : 0));
}

// Return the groups that contain characters of a set.
uint16_t groups_of(const uint32_t* ascii, uint32_t beyond) {
  uint16_t groups = beyond_groups(beyond);
  for (uint32_t byte = 0; byte < 128; ++byte) {
    if (support::has_bit(std::span(ascii, 4), byte)) groups |= kGroupOf[byte];
  }
  return groups;
}

uint64_t joined(const uint32_t* words) { return words[0] | uint64_t{words[1]} << 32; }

// Return the kind of the character that begins at a place, which is complete and beyond ASCII.
uint32_t kind_at(std::span<const uint8_t> text, size_t place) {
  return support::kind_of(text[place], text[place + 1], text[place] < 0xE0 ? 0 : text[place + 2]);
}

}  // namespace

CharacterPrefix prefix_over(const CharacterSet& set, std::span<const uint8_t> token) {
  support::Pending pending = kWhole;
  size_t place = 0, done = 0;  // `done` is where the last character begins
  int32_t length = 0;
  while (place < token.size() && token[place] < 0x80 && set.begins(token[place])) ++place;
  done = place, length = static_cast<int32_t>(place);
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
  std::vector<uint16_t> groups_of_token(vocabulary.size(), kNoText);
  int32_t longest = 0;
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const auto text = vocabulary.token(token);
    Token& own = tokens_[token];
    const CharacterPrefix prefix = prefix_over(kAll, text);
    if (!prefix.is_whole) continue;
    lengths_[token] = prefix.length;
    longest = std::max(longest, prefix.length);
    own.low = own.high = own.beyond = 0;
    uint16_t groups = 0;
    for (size_t place = 0; place < text.size(); ++place) {
      const uint8_t byte = text[place];
      if (byte < 0x80) {
        (byte < 0x40 ? own.low : own.high) |= uint64_t{1} << (byte & 0x3F);
        groups |= kGroupOf[byte];
      } else {
        own.beyond |= support::kOther;
        const bool is_complete =
            support::kAfterLead[byte] != kWhole && place + support::kToCome[support::kAfterLead[byte]] < text.size();
        if (is_complete) own.beyond |= kind_at(text, place);
      }
    }
    groups_of_token[token] = groups | beyond_groups(own.beyond);
  }
  sort_by_groups(vocabulary, groups_of_token);
  sort_by_length(longest);
}

// Ranks are in the order of first bytes.
void TokenCharacters::sort_by_groups(const Vocabulary& vocabulary, std::span<const uint16_t> groups) {
  std::vector<int32_t> next((size_t{1} << kNumGroups) + 1);
  size_t count = 0;
  for (const int32_t token : vocabulary.token_of_rank()) {
    if (vocabulary.token(token).empty()) continue;
    ++next[groups[token] + 1], ++count;
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  by_groups_.resize(count);
  for (const int32_t token : vocabulary.token_of_rank()) {
    if (!vocabulary.token(token).empty()) by_groups_[next[groups[token]]++] = token;
  }
  for (int32_t place = 0; place < static_cast<int32_t>(count); ++place) {
    const int32_t token = by_groups_[place];
    const uint8_t first = vocabulary.token(token)[0];
    if (runs_.empty() || runs_.back().groups != groups[token] || runs_.back().first != first) {
      runs_.push_back({groups[token], first, place, place});
    }
    runs_.back().end = place + 1;
  }
  const std::vector<Token> by_token = std::move(tokens_);
  tokens_.clear();
  tokens_.reserve(count);
  for (const int32_t token : by_groups_) tokens_.push_back(by_token[token]);
}

void TokenCharacters::sort_by_length(int32_t longest) {
  num_up_to_.resize(longest + 1);
  for (const int32_t length : lengths_) num_up_to_[length] += length > 0;
  for (int32_t length = 1; length <= longest; ++length) num_up_to_[length] += num_up_to_[length - 1];
  by_length_.resize(num_up_to_.back());
  std::vector<int32_t> next = num_up_to_;
  for (auto token = static_cast<int32_t>(lengths_.size()); token-- > 0;) {
    if (lengths_[token] > 0) by_length_[--next[lengths_[token]]] = token;
  }
}

bool TokenCharacters::is_over(const Token& token, const CharacterSet& set) const {
  return !((token.low & ~joined(set.ascii)) | (token.high & ~joined(set.ascii + 2)) | (token.beyond & ~set.beyond));
}

TokensBySet TokenCharacters::split_by(const CharacterSet& set) const {
  const uint32_t others[] = {~set.ascii[0], ~set.ascii[1], ~set.ascii[2], ~set.ascii[3]};
  const uint16_t inside = groups_of(set.ascii, set.beyond);
  const uint16_t outside = groups_of(others, support::kAllKinds & ~set.beyond) | kNoText;
  const size_t num_words = support::words_for(lengths_.size());
  TokensBySet tokens{Words(num_words), Words(num_words)};
  for (const Run& run : runs_) {
    const auto own = std::span(by_groups_).subspan(run.begin, run.end - run.begin);
    const bool is_beginning = set.begins(run.first), is_over_all = !(run.groups & outside);
    if (is_over_all) {
      for (const int32_t token : own) support::set_bit(tokens.over, static_cast<uint32_t>(token));
    } else if (is_beginning && (run.groups & outside & ~inside)) {
      for (const int32_t token : own) support::set_bit(tokens.leaving, static_cast<uint32_t>(token));
    } else if (is_beginning) {
      for (int32_t place = run.begin; place < run.end; ++place) {
        Words& words = is_over(tokens_[place], set) ? tokens.over : tokens.leaving;
        support::set_bit(words, static_cast<uint32_t>(by_groups_[place]));
      }
    }
  }
  return tokens;
}

int32_t TokenCharacters::longest(const Words& tokens) const {
  const auto found = std::find_if(by_length_.rbegin(), by_length_.rend(), [&](int32_t token) {
    return support::has_bit(tokens, static_cast<uint32_t>(token));
  });
  return found == by_length_.rend() ? 0 : lengths_[*found];
}

Words TokenCharacters::leaving_by(const support::ByteSet& bytes, const CharacterSet& set) const {
  // Bytes beyond ASCII begin characters that are not in the set. Tokens that are not text may contain any byte.
  const bool has_beyond =
      std::ranges::any_of(std::span(bytes.words).subspan(4), [](uint32_t word) { return word != 0; });
  const uint64_t low = joined(bytes.words), high = joined(bytes.words + 2);
  const uint32_t beyond = has_beyond ? ~set.beyond : 0;
  const auto groups = static_cast<uint16_t>(groups_of(bytes.words, beyond) | kNoText);
  Words found(support::words_for(lengths_.size()));
  for (const Run& run : runs_) {
    if (!(run.groups & groups)) continue;
    for (int32_t place = run.begin; place < run.end; ++place) {
      const Token& own = tokens_[place];
      const bool may_leave = (own.low & low) | (own.high & high) | (own.beyond & beyond);
      if (may_leave) support::set_bit(found, static_cast<uint32_t>(by_groups_[place]));
    }
  }
  return found;
}

}  // namespace tokenfst
