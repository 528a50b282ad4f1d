#include "tokenfst/vocabulary.h"

#include <algorithm>

#include "support/utf8.h"

namespace tokenfst {

namespace {

using support::kWhole;

std::span<const uint8_t> token_of(std::span<const uint8_t> data, std::span<const int64_t> offsets, int32_t id) {
  return data.subspan(offsets[id], offsets[id + 1] - offsets[id]);
}

// Return the trie of sorted tokens; the first one has rank `first`.
Trie trie_of(std::span<const int32_t> ids, std::span<const uint8_t> data, std::span<const int64_t> offsets,
             size_t first) {
  std::vector<uint8_t> text;
  std::vector<int64_t> begins{0};
  begins.reserve(ids.size() + 1);
  for (int32_t id : ids) {
    const auto token = token_of(data, offsets, id);
    text.insert(text.end(), token.begin(), token.end());
    begins.push_back(static_cast<int64_t>(text.size()));
  }
  return Trie(text, begins, static_cast<int32_t>(first));
}

}  // namespace

uint64_t prefix_of(std::span<const uint8_t> token) {
  uint64_t prefix = 0;
  for (size_t at = 0; at < 8; ++at) prefix = prefix << 8 | (at < token.size() ? token[at] : 0);
  return prefix;
}

bool is_text(std::span<const uint8_t> bytes) {
  support::Pending pending = kWhole;
  for (uint8_t byte : bytes) {
    if (pending != kWhole) {
      if (byte < support::kNextLow[pending] || byte > support::kNextHigh[pending]) return false;
      pending = support::kAfterContinuation[pending];
    } else if (byte >= 0x80) {
      pending = support::kAfterLead[byte];
      if (pending == kWhole) return false;
    }
  }
  return pending == kWhole;
}

// Ids in the order of their ranks.
struct Vocabulary::Sorted {
  std::vector<int32_t> ids;
  size_t num_whole = 0, num_partial = 0;

  Sorted(std::span<const uint8_t> data, std::span<const int64_t> offsets, std::span<const int32_t> eos_ids) {
    struct Key {
      int32_t group;  // whole, partial, silent
      uint64_t prefix;
      int32_t id;
    };
    std::vector<Key> keys;
    const auto size = static_cast<int32_t>(offsets.size()) - 1;
    keys.reserve(size);
    for (int32_t id = 0; id < size; ++id) {
      if (std::ranges::binary_search(eos_ids, id)) continue;
      const auto token = token_of(data, offsets, id);
      const int32_t group = token.empty() ? 2 : is_text(token) ? 0 : 1;
      num_whole += group == 0, num_partial += group == 1;
      keys.push_back({group, prefix_of(token), id});
    }
    std::ranges::sort(keys, [&](const Key& left, const Key& right) {
      if (left.group != right.group) return left.group < right.group;
      if (left.prefix != right.prefix) return left.prefix < right.prefix;
      const auto a = token_of(data, offsets, left.id), b = token_of(data, offsets, right.id);
      const auto order = std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
      return order != 0 ? order < 0 : left.id < right.id;
    });
    ids.reserve(keys.size());
    for (const Key& key : keys) ids.push_back(key.id);
  }
};

Vocabulary::Vocabulary(std::vector<uint8_t> data, std::vector<int64_t> offsets, std::vector<int32_t> eos_ids)
    : Vocabulary(std::move(data), std::move(offsets), std::move(eos_ids), Sorted(data, offsets, eos_ids)) {}

Vocabulary::Vocabulary(std::vector<uint8_t>&& data, std::vector<int64_t>&& offsets, std::vector<int32_t>&& eos_ids,
                       Sorted&& sorted)
    : data_(std::move(data)),
      offsets_(std::move(offsets)),
      eos_ids_(std::move(eos_ids)),
      num_whole_(static_cast<int32_t>(sorted.num_whole)),
      token_of_rank_(std::move(sorted.ids)),
      rank_of_token_(size(), num_ranks()),
      all_words_(support::words_for(size())),
      eos_words_(support::words_for(size())),
      whole_(trie_of(token_of_rank().first(sorted.num_whole), data_, offsets_, 0)),
      partial_(
          trie_of(token_of_rank().subspan(sorted.num_whole, sorted.num_partial), data_, offsets_, sorted.num_whole)) {
  for (int32_t rank = 0; rank < num_ranks(); ++rank) rank_of_token_[token_of_rank_[rank]] = rank;
  for (int32_t id : token_of_rank_) support::set_bit(all_words_, id);
  for (int32_t id : eos_ids_) support::set_bit(eos_words_, id);
  for (int32_t id = 0; id < size(); ++id) longest_ = std::max(longest_, static_cast<int32_t>(token(id).size()));
}

}  // namespace tokenfst
