#include "tokenfst/lazy/texts.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tokenfst {

namespace {

// If more tokens than this have a rest, a text saves nothing.
constexpr size_t kMostRests = 1 << 13;
// A set of characters is prepared the third time it is met, and at most this many sets are kept.
constexpr int kTimesMet = 3, kMostTexts = 256;

template <class Made, class Make>
const auto& once(Made& made, Make make) {
  std::call_once(made.once, [&] { made.value = make(); });
  return *made.value;
}

// Bytes as what compares by memcmp.
std::string_view view(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Texts in their order, and their tokens.
class TrieBuilder {
 public:
  void add(std::span<const uint8_t> text, int32_t token) {
    data_.insert(data_.end(), text.begin(), text.end());
    offsets_.push_back(static_cast<int64_t>(data_.size()));
    tokens_.push_back(token);
  }
  std::unique_ptr<const TokenTrie> made() {
    return std::make_unique<const TokenTrie>(TokenTrie{Trie(data_, offsets_, 0), std::move(tokens_)});
  }

 private:
  std::vector<uint8_t> data_;
  std::vector<int64_t> offsets_{0};
  std::vector<int32_t> tokens_;
};

}  // namespace

Text::Text(const CharacterSet& set, const Vocabulary& vocabulary, const TokenCharacters& characters)
    : set_(set),
      vocabulary_(vocabulary),
      characters_(characters),
      over_(vocabulary.num_words()) {
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    if (characters.is_over(token, set)) {
      support::set_bit(over_, static_cast<uint32_t>(token));
      longest_ = std::max(longest_, characters.length(token));
      continue;
    }
    const auto text = vocabulary.token(token);
    if (text.empty() || !set.begins(text[0])) continue;
    if (rests_by_text_.size() == kMostRests) {
      is_short_cut_ = false;
      return;
    }
    rests_by_text_.push_back({token, prefix_over(set, text)});
    longest_ = std::max(longest_, rests_by_text_.back().before.length);
  }
  sort_rests();
  words_ = std::vector<Made<Words>>(longest_ + 1);
  rests_of_ = std::vector<Made<TokenTrie>>(longest_ + 1);
  beyond_ = std::vector<Made<TokenTrie>>(longest_ + 1);
}

void Text::sort_rests() {
  struct Key {
    uint64_t prefix;
    Rest rest;
  };
  std::vector<Key> keys;
  keys.reserve(rests_by_text_.size());
  for (const Rest& rest : rests_by_text_) keys.push_back({prefix_of(text_of(rest)), rest});
  std::ranges::sort(keys, [&](const Key& left, const Key& right) {
    if (left.prefix != right.prefix) return left.prefix < right.prefix;
    const int order = view(text_of(left.rest)).compare(view(text_of(right.rest)));
    return order != 0 ? order < 0 : left.rest.token < right.rest.token;
  });
  std::ranges::transform(keys, rests_by_text_.begin(), &Key::rest);
}

const Words& Text::words(int32_t length) const {
  if (length >= longest_) return over_;
  return once(words_[length], [&] {
    const auto kept = characters_.up_to(length), longer = characters_.longer(length);
    Words words = longer.size() < kept.size() ? over_ : Words(over_.size());
    if (longer.size() < kept.size()) {
      for (const int32_t token : longer) support::clear_bit(words, static_cast<uint32_t>(token));
    } else {
      for (const int32_t token : kept) {
        if (support::has_bit(over_, static_cast<uint32_t>(token)))
          support::set_bit(words, static_cast<uint32_t>(token));
      }
    }
    return std::make_unique<const Words>(std::move(words));
  });
}

template <class Chosen>
std::unique_ptr<const TokenTrie> Text::trie_of_rests(Chosen chosen) const {
  TrieBuilder builder;
  for (const Rest& rest : rests_by_text_) {
    if (chosen(rest)) builder.add(text_of(rest), rest.token);
  }
  return builder.made();
}

const TokenTrie& Text::rests() const {
  return once(rests_, [&] { return trie_of_rests([](const Rest&) { return true; }); });
}

const TokenTrie& Text::rests(int32_t length) const {
  return once(rests_of_[length],
              [&] { return trie_of_rests([&](const Rest& rest) { return rest.before.length == length; }); });
}

const TokenTrie& Text::beyond(int32_t length) const {
  length = std::min(length, longest_);
  return once(beyond_[length], [&] {
    const auto is_beyond = [&](int32_t token) {
      const auto text = vocabulary_.token(token);
      return !text.empty() && set_.begins(text[0]) &&
             (characters_.length(token) > length || !support::has_bit(over_, static_cast<uint32_t>(token)));
    };
    // Whole tokens are sorted, and so are the others.
    const auto ranked = vocabulary_.token_of_rank();
    std::vector<int32_t> chosen;
    std::ranges::copy_if(ranked.first(vocabulary_.num_whole()), std::back_inserter(chosen), is_beyond);
    const auto num_whole = static_cast<ptrdiff_t>(chosen.size());
    std::ranges::copy_if(ranked.subspan(vocabulary_.num_whole()), std::back_inserter(chosen), is_beyond);
    std::ranges::inplace_merge(chosen, chosen.begin() + num_whole, [&](int32_t left, int32_t right) {
      return view(vocabulary_.token(left)) < view(vocabulary_.token(right));
    });
    TrieBuilder builder;
    for (const int32_t token : chosen) builder.add(vocabulary_.token(token), token);
    return builder.made();
  });
}

TextLibrary::TextLibrary(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      characters_(*vocabulary_),
      quoted_(kQuoted, *vocabulary_, characters_) {
  if (!quoted_.is_short_cut()) return;
  quoted_.rests();
  for (int32_t length = 0; length <= quoted_.longest(); ++length) quoted_.words(length), quoted_.rests(length);
  for (const int32_t length : kCovers) quoted_.beyond(length);
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

const Text* TextLibrary::find(const CharacterSet& set) {
  if (set == kQuoted) return quoted();
  Entry* const own = entry(set);
  if (!own || !own->pays.load(std::memory_order_relaxed)) return nullptr;
  if (const Text* known = own->text.load(std::memory_order_acquire)) return known;
  if (own->times_met.fetch_add(1) + 1 < kTimesMet) return nullptr;
  auto made = std::make_unique<const Text>(set, *vocabulary_, characters_);
  if (!made->is_short_cut()) {
    own->pays = false;
    return nullptr;
  }
  const Text* other = nullptr;
  return own->text.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel) ? made.release() : other;
}

}  // namespace tokenfst
