#include "tokenfst/lazy/texts.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "support/hash.h"

namespace tokenfst {

using support::ByteSet;

namespace {

// Nodes with fewer tokens below them are not prepared: walking over them takes no longer.
constexpr int32_t kFewBelow = 64;
// More rests than this save nothing.
constexpr size_t kMaxRests = 1 << 12;
// Clearing the bit of one token takes as long as clearing bits in this many words.
constexpr size_t kWordsPerToken = 4;
// The most sets that are kept, and the bytes of their masks after which no more are made: 32 KiB for each set with
// 128,000 tokens.
constexpr int kMaxTexts = 1 << 10;
constexpr size_t kMaxBytes = 1 << 25;

template <class Made, class Make>
const auto& once(Made& made, Make make) {
  std::call_once(made.once, [&] { made.value = make(); });
  return *made.value;
}

// Return bytes as a view that compares by memcmp.
std::string_view view(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Builds a trie from texts in ascending order, with the token of each.
class TrieBuilder {
 public:
  void add(std::span<const uint8_t> text, int32_t token) {
    data_.insert(data_.end(), text.begin(), text.end());
    offsets_.push_back(static_cast<int64_t>(data_.size()));
    tokens_.push_back(token);
  }
  TokenTrie made() { return {Trie(data_, offsets_, 0), std::move(tokens_)}; }

 private:
  std::vector<uint8_t> data_;
  std::vector<int64_t> offsets_{0};
  std::vector<int32_t> tokens_;
};

std::span<const uint8_t> text_of(const Rests::Rest& rest, const Vocabulary& vocabulary) {
  return vocabulary.token(rest.token).subspan(rest.before.size);
}

std::vector<Rests::Rest> by_text(std::vector<Rests::Rest> rests, const Vocabulary& vocabulary) {
  struct Key {
    uint64_t prefix;
    Rests::Rest rest;
  };
  std::vector<Key> keys;
  keys.reserve(rests.size());
  for (const Rests::Rest& rest : rests) keys.push_back({prefix_of(text_of(rest, vocabulary)), rest});
  std::ranges::sort(keys, [&](const Key& left, const Key& right) {
    if (left.prefix != right.prefix) return left.prefix < right.prefix;
    const int order = view(text_of(left.rest, vocabulary)).compare(view(text_of(right.rest, vocabulary)));
    return order != 0 ? order < 0 : left.rest.token < right.rest.token;
  });
  std::ranges::transform(keys, rests.begin(), &Key::rest);
  return rests;
}

// Return the trie of some tokens, each as a whole.
std::unique_ptr<const TokenTrie> trie_of(const std::vector<int32_t>& tokens, const Vocabulary& vocabulary) {
  std::vector<Rests::Rest> whole;
  for (const int32_t token : tokens) whole.push_back({token, {}});
  TrieBuilder builder;
  for (const Rests::Rest& each : by_text(std::move(whole), vocabulary)) {
    builder.add(vocabulary.token(each.token), each.token);
  }
  return std::make_unique<const TokenTrie>(builder.made());
}

}  // namespace

Rests::Rests(std::vector<Rest> rests, const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      sorted_(by_text(std::move(rests), vocabulary)),
      of_length_(1 + std::ranges::max(sorted_, {}, [](const Rest& rest) { return rest.before.length; }).before.length),
      from_(of_length_.size()),
      up_to_(of_length_.size()) {}

template <class Chosen>
std::unique_ptr<const TokenTrie> Rests::trie_of(Chosen chosen) const {
  TrieBuilder builder;
  for (const Rest& rest : sorted_) {
    if (chosen(rest)) builder.add(text_of(rest, vocabulary_), rest.token);
  }
  return std::make_unique<const TokenTrie>(builder.made());
}

const TokenTrie& Rests::from(int32_t length) const {
  return once(from_[length], [&] { return trie_of([&](const Rest& rest) { return rest.before.length >= length; }); });
}

const TokenTrie& Rests::after(int32_t length) const {
  return once(of_length_[length],
              [&] { return trie_of([&](const Rest& rest) { return rest.before.length == length; }); });
}

const TokenTrie& Rests::tokens_up_to(int32_t length) const {
  length = std::min(length, longest());
  return once(up_to_[length], [&] {
    std::vector<int32_t> tokens;
    for (const Rest& rest : sorted_) {
      if (rest.before.length <= length) tokens.push_back(rest.token);
    }
    return tokenfst::trie_of(tokens, vocabulary_);
  });
}

Text::Text(const CharacterSet& set, const Vocabulary& vocabulary, const TokenCharacters& characters, TokensBySet tokens)
    : set_(set),
      vocabulary_(vocabulary),
      characters_(characters),
      over_(std::move(tokens.over)),
      leaving_(std::move(tokens.leaving)),
      longest_(longest_prefix()),
      words_(longest_ + 1),
      beyond_(longest_ + 1) {
  tables_.push_back(std::make_unique<const RestTable>());
  table_ = tables_.back().get();
}

int32_t Text::longest_prefix() const {
  int32_t longest = characters_.longest(over_);
  support::for_each_bit(leaving_, [&](uint32_t number) {
    const auto token = static_cast<int32_t>(number);
    if (characters_.length(token) <= longest && characters_.length(token) > 0) return;
    longest = std::max(longest, prefix_over(set_, vocabulary_.token(token)).length);
  });
  return longest;
}

const Text::RestTable* Text::rests(const ByteSet& bytes) const {
  const RestTable* known = table_.load(std::memory_order_acquire);
  if ((bytes & ~known->known).is_empty()) return known;
  if (has_many_rests(bytes)) return nullptr;
  const std::lock_guard lock(making_);
  known = table_.load(std::memory_order_relaxed);
  const ByteSet missing = bytes & ~known->known;
  if (missing.is_empty()) return known;
  auto made = with_rests(*known, missing);
  if (!made) return nullptr;
  tables_.push_back(std::move(made));
  table_.store(tables_.back().get(), std::memory_order_release);
  return tables_.back().get();
}

bool Text::has_many_rests(const ByteSet& bytes) const {
  size_t count = 0;
  bytes.for_each([&](uint8_t first) { count += static_cast<size_t>(least_[first].load(std::memory_order_relaxed)); });
  return count > kMaxRests;
}

// Return a table of the known rests and of those that begin with the missing bytes; null as soon as the latter are too
// many.
std::unique_ptr<const Text::RestTable> Text::with_rests(const RestTable& known, const ByteSet& missing) const {
  std::vector<Rests::Rest> found[256];
  size_t count = 0;
  const auto look_at = [&](int32_t token) {
    const auto text = vocabulary_.token(token);
    const CharacterPrefix prefix = prefix_over(set_, text);
    const uint8_t first = text[static_cast<size_t>(prefix.size)];
    if (!missing[first]) return;
    found[first].push_back({token, prefix});
    ++count;
  };
  const Words candidates = characters_.leaving_by(missing, set_);
  for (size_t word = 0; word < candidates.size() && count <= kMaxRests; ++word) {
    const uint32_t own[] = {candidates[word] & leaving_[word]};
    support::for_each_bit(own, [&](uint32_t bit) { look_at(static_cast<int32_t>(32 * word + bit)); });
  }
  if (count > kMaxRests) {
    missing.for_each([&](uint8_t first) {
      const auto least = static_cast<int32_t>(found[first].size());
      if (least > least_[first].load(std::memory_order_relaxed)) least_[first].store(least, std::memory_order_relaxed);
    });
    return nullptr;
  }
  auto made = std::make_unique<RestTable>(known);
  made->known |= missing;
  for (int first = 0; first < 256; ++first) {
    if (found[first].empty()) continue;
    made->some.add(static_cast<uint8_t>(first));
    made->by_first[first] = std::make_shared<const Rests>(std::move(found[first]), vocabulary_);
  }
  return made;
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

const TokenTrie& Text::beyond(int32_t length) const {
  length = std::min(length, longest_);
  return once(beyond_[length], [&] {
    std::vector<int32_t> tokens;
    std::ranges::copy_if(characters_.longer(length), std::back_inserter(tokens),
                         [&](int32_t token) { return support::has_bit(over_, static_cast<uint32_t>(token)); });
    support::for_each_bit(leaving_, [&](uint32_t number) {
      const auto token = static_cast<int32_t>(number);
      if (prefix_over(set_, vocabulary_.token(token)).length > length) tokens.push_back(token);
    });
    return trie_of(tokens, vocabulary_);
  });
}

TextBelow Text::made_below(const TrieNode& node, size_t depth) const {
  std::vector<int32_t> over;
  std::vector<std::pair<std::string_view, int32_t>> rests;
  for (int32_t rank = vocabulary_.whole().own_end(node); rank < node.end_rank; ++rank) {
    const int32_t token = vocabulary_.token_of_rank()[rank];
    const auto text = vocabulary_.token(token).subspan(depth);
    const CharacterPrefix prefix = prefix_over(set_, text);
    if (prefix.is_whole) {
      over.push_back(token);
    } else {
      rests.emplace_back(view(text.subspan(prefix.size)), token);
    }
  }
  std::ranges::sort(rests);
  TrieBuilder builder;
  for (const auto& [text, token] : rests) {
    builder.add(vocabulary_.token(token).last(text.size()), token);
  }
  return {static_cast<int32_t>(&node - vocabulary_.whole().nodes().data()), std::move(over), builder.made()};
}

void Text::prepare_below(uint8_t opening) {
  struct Deep {
    const TrieNode* node;
    size_t depth;
  };
  const Trie& trie = vocabulary_.whole();
  opening_ = opening;
  std::vector<Deep> waiting{{&trie.root(), 0}};
  while (!waiting.empty()) {
    const Deep at = waiting.back();
    waiting.pop_back();
    if (at.depth > 0 && at.node->byte == opening) {
      below_.push_back(made_below(*at.node, at.depth));
      continue;
    }
    for (const TrieNode& child : trie.nodes().subspan(at.node->children, at.node->num_children)) {
      if (child.end_rank - child.first_rank >= kFewBelow) waiting.push_back({&child, at.depth + 1});
    }
  }
}

const TextBelow* Text::below(const TrieNode& node) const {
  if (node.byte != opening_) return nullptr;
  const auto number = &node - vocabulary_.whole().nodes().data();
  const auto found = std::ranges::find(below_, number, &TextBelow::node);
  return found == below_.end() ? nullptr : &*found;
}

TextLibrary::TextLibrary(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      characters_(*vocabulary_),
      quoted_(kQuoted, *vocabulary_, characters_, characters_.split_by(kQuoted)),
      dot_(kDot, *vocabulary_, characters_, characters_.split_by(kDot)) {
  ByteSet ends;
  for (const uint8_t byte : {uint8_t{'"'}, uint8_t{'\\'}}) ends.add(byte);
  ByteSet beyond = ends;
  for (int word = 4; word < 8; ++word) beyond.words[word] = ~0u;
  ByteSet spaced = beyond;
  spaced.add(' ');
  const auto prepare_rests = [](const Text& text, const ByteSet& bytes, auto prepare) {
    const Text::RestTable* const table = text.rests(bytes);
    if (table) table->some.for_each([&](uint8_t first) { prepare(*table->by_first[first]); });
  };
  for (int32_t length = 0; length <= quoted_.longest(); ++length) quoted_.words(length);
  prepare_rests(quoted_, ends, [](const Rests& rests) {
    for (int32_t length = 0; length <= rests.longest(); ++length) rests.after(length);
    for (int32_t length = 0; length <= std::min(rests.longest(), 1); ++length) rests.from(length);
  });
  for (const int32_t length : kCovers) dot_.words(length), dot_.beyond(length);
  prepare_rests(dot_, beyond, [](const Rests& rests) {
    for (const int32_t length : kCovers) rests.tokens_up_to(length);
  });
  prepare_rests(*find(kNonSpace), spaced, [](const Rests& rests) { rests.from(0); });
  quoted_.prepare_below('"');
  for (size_t number = 0; number < std::size(kNearBounds); ++number) {
    std::vector<int32_t> tokens;
    for (int32_t token = 0; token < vocabulary_->size(); ++token) {
      if (std::ssize(vocabulary_->token(token)) > kNearBounds[number]) tokens.push_back(token);
    }
    longer_[number] = trie_of(tokens, *vocabulary_);
  }
}

TextLibrary::~TextLibrary() {
  for (const auto& place : entries_) {
    Entry* const entry = place.load();
    if (entry) delete entry->text.load();
    delete entry;
  }
}

TextLibrary::Entry* TextLibrary::entry(const CharacterSet& set) {
  static_assert(2 * kMaxTexts <= std::tuple_size_v<decltype(entries_)>);
  std::unique_ptr<Entry> added;
  for (size_t at = support::Hash()(set) >> 32;; ++at) {
    std::atomic<Entry*>& place = entries_[at % entries_.size()];
    Entry* known = place.load(std::memory_order_acquire);
    if (!known && !added) {
      if (num_entries_.fetch_add(1) >= kMaxTexts) return --num_entries_, nullptr;
      added.reset(new Entry{set});
    }
    if (!known && place.compare_exchange_strong(known, added.get(), std::memory_order_acq_rel)) return added.release();
    if (known->set == set) {
      if (added) --num_entries_;
      return known;
    }
  }
}

const Text* TextLibrary::find(const CharacterSet& set) {
  if (set == kQuoted) return &quoted_;
  if (set == kDot) return &dot_;
  Entry* const own = entry(set);
  if (!own) return nullptr;
  if (const Text* known = own->text.load(std::memory_order_acquire)) return known;
  if (num_bytes_.load() > kMaxBytes) return nullptr;
  TokensBySet tokens = characters_.split_by(set);
  const size_t num_bytes = sizeof(uint32_t) * (tokens.over.size() + tokens.leaving.size());
  auto made = std::make_unique<const Text>(set, *vocabulary_, characters_, std::move(tokens));
  const Text* other = nullptr;
  if (!own->text.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return other;
  num_bytes_ += num_bytes;
  return made.release();
}

template <class Visit>
void TextLibrary::for_each_run(const ByteSet& bytes, Visit visit) const {
  for (const Trie* trie : {&vocabulary_->whole(), &vocabulary_->partial()}) {
    const TrieNode& root = trie->root();
    for (const TrieNode& node : trie->nodes().subspan(root.children, root.num_children)) {
      if (bytes[node.byte])
        visit(node.byte, vocabulary_->token_of_rank().subspan(node.first_rank, node.end_rank - node.first_rank));
    }
  }
}

int32_t TextLibrary::num_beginning(const ByteSet& bytes) const {
  size_t count = 0;
  for_each_run(bytes, [&](uint8_t, std::span<const int32_t> tokens) { count += tokens.size(); });
  return static_cast<int32_t>(count);
}

void TextLibrary::clear_beginning(const ByteSet& bytes, Words& words) const {
  for_each_run(bytes, [&](uint8_t byte, std::span<const int32_t> tokens) {
    if (tokens.size() * kWordsPerToken < words.size()) {
      for (const int32_t token : tokens) support::clear_bit(words, static_cast<uint32_t>(token));
      return;
    }
    const Words& own = once(beginning_[byte], [&] {
      auto made = std::make_unique<Words>(words.size());
      for_each_run(bytes, [&](uint8_t first, std::span<const int32_t> all) {
        if (first == byte)
          for (const int32_t token : all) support::set_bit(*made, static_cast<uint32_t>(token));
      });
      return made;
    });
    for (size_t word = 0; word < words.size(); ++word) words[word] &= ~own[word];
  });
}

}  // namespace tokenfst
