#include "tokenfst/lazy/texts.h"

#include <algorithm>

#include "support/utf8.h"

namespace tokenfst {

namespace {

using support::kWhole;

// If more tokens than this have a rest, a text saves nothing.
constexpr int32_t kMostRests = 1 << 13;
// A set of characters is prepared the third time it is met, and at most this many sets are kept.
constexpr int kTimesMet = 3, kMostTexts = 256;

template <class Made, class Make>
const auto& once(Made& made, Make make) {
  std::call_once(made.once, [&] { made.value = make(); });
  return *made.value;
}

}  // namespace

Text::Cut Text::cut(std::span<const uint8_t> token) const {
  support::Pending pending = kWhole;
  size_t place = 0, done = 0;
  int32_t length = 0;
  for (; place < token.size(); ++place) {
    const uint8_t byte = token[place];
    if (pending != kWhole) {
      if (byte < support::kNextLow[pending] || byte > support::kNextHigh[pending]) break;
      pending = support::kAfterContinuation[pending];
    } else if (byte < 0x80) {
      if (!set_.begins(byte)) break;
    } else {
      pending = support::kAfterLead[byte];
      if (!set_.beyond || pending == kWhole) break;
    }
    if (pending == kWhole) done = place + 1, ++length;
  }
  const bool is_whole = place == token.size() && place > 0;
  length += is_whole && done < token.size();
  const bool begins = done > 0 || (!token.empty() && token[0] >= 0x80 && set_.beyond);
  return {begins ? static_cast<int32_t>(done) : -1, length, is_whole};
}

Text::Text(const CharacterSet& set, const Vocabulary& vocabulary) : set_(set), vocabulary_(vocabulary) {
  cuts_.reserve(vocabulary.size());
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    cuts_.push_back(cut(vocabulary.token(token)));
    longest_ = std::max(longest_, cuts_.back().length);
    num_rests_ += cuts_.back().size >= 0 && !cuts_.back().is_whole;
  }
  words_ = std::vector<Made<Words>>(longest_ + 1);
  rests_of_ = std::vector<Made<TokenTrie>>(longest_ + 1);
  beyond_ = std::vector<Made<TokenTrie>>(longest_ + 1);
}

bool Text::is_short_cut() const { return num_rests_ <= kMostRests; }

const Words& Text::words(int32_t length) const {
  length = std::min(length, longest_);
  return once(words_[length], [&] {
    Words words(vocabulary_.num_words());
    for (size_t token = 0; token < cuts_.size(); ++token) {
      if (cuts_[token].is_whole && cuts_[token].length <= length) support::set_bit(words, static_cast<uint32_t>(token));
    }
    return std::make_unique<const Words>(std::move(words));
  });
}

// The trie of the chosen tokens, or of their rests after the longest prefix over the set.
template <class Chosen>
std::unique_ptr<const TokenTrie> Text::trie_of(Chosen chosen, bool of_rests) const {
  struct Suffix {
    std::span<const uint8_t> text;
    int32_t token;
  };
  std::vector<Suffix> suffixes;
  for (int32_t token = 0; token < vocabulary_.size(); ++token) {
    const Cut& own = cuts_[token];
    if (own.size < 0 || !chosen(own)) continue;
    suffixes.push_back({vocabulary_.token(token).subspan(of_rests ? own.size : 0), token});
  }
  std::ranges::sort(suffixes, [](const Suffix& left, const Suffix& right) {
    const auto order = std::lexicographical_compare_three_way(left.text.begin(), left.text.end(), right.text.begin(),
                                                              right.text.end());
    return order != 0 ? order < 0 : left.token < right.token;
  });
  std::vector<uint8_t> data;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> tokens;
  for (const Suffix& suffix : suffixes) {
    data.insert(data.end(), suffix.text.begin(), suffix.text.end());
    offsets.push_back(static_cast<int64_t>(data.size()));
    tokens.push_back(suffix.token);
  }
  return std::make_unique<const TokenTrie>(TokenTrie{Trie(data, offsets, 0), std::move(tokens)});
}

const TokenTrie& Text::rests() const {
  return once(rests_, [&] { return trie_of([](const Cut& own) { return !own.is_whole; }, true); });
}

const TokenTrie& Text::rests(int32_t length) const {
  return once(rests_of_[length],
              [&] { return trie_of([&](const Cut& own) { return !own.is_whole && own.length == length; }, true); });
}

const TokenTrie& Text::beyond(int32_t length) const {
  length = std::min(length, longest_);
  return once(beyond_[length],
              [&] { return trie_of([&](const Cut& own) { return !own.is_whole || own.length > length; }, false); });
}

TextLibrary::~TextLibrary() {
  for (Entry* entry = first_; entry;) {
    Entry* const next = entry->next;
    delete entry->text.load();
    delete entry;
    entry = next;
  }
}

TextLibrary::Entry* TextLibrary::entry(const CharacterSet& set) {
  Entry* first = first_.load(std::memory_order_acquire);
  for (Entry* known = first; known; known = known->next) {
    if (known->set == set) return known;
  }
  if (num_entries_.load() >= kMostTexts) return nullptr;
  ++num_entries_;
  auto* added = new Entry{set};
  // If another thread adds the same set at the same time, it exists twice, and one copy is never found again.
  do added->next = first;
  while (!first_.compare_exchange_weak(first, added, std::memory_order_acq_rel));
  return added;
}

const Text* TextLibrary::met(const CharacterSet& set, int times) {
  Entry* const own = entry(set);
  if (!own || !own->pays.load(std::memory_order_relaxed)) return nullptr;
  if (const Text* known = own->text.load(std::memory_order_acquire)) return known;
  if (own->times_met.fetch_add(times) + times < kTimesMet) return nullptr;
  auto made = std::make_unique<const Text>(set, *vocabulary_);
  if (!made->is_short_cut()) {
    own->pays = false;
    return nullptr;
  }
  const Text* other = nullptr;
  return own->text.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel) ? made.release() : other;
}

const Text* TextLibrary::find(const CharacterSet& set) { return met(set, 1); }

const Text* TextLibrary::quoted() { return met(kQuoted, kTimesMet); }

}  // namespace tokenfst
