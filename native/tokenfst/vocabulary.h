// Vocabulary: the tokens of a model as bytes, prepared once for every constraint that will be compiled over it.
//
// Everything after preparation works on ranks, positions in sorted order, because the tokens below a prefix are then
// adjacent. Ranks come in this order: tokens that are whole UTF-8 characters, other tokens, and those that emit
// nothing. Tokens that end a sequence are not ranked at all. Whole tokens have a separate trie, since below one of its
// lead bytes every valid continuation means a whole character, which lets walks step over characters at a time; the few
// tokens that begin or end inside a character have another one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/bits.h"
#include "tokenfst/trie.h"

namespace tokenfst {

class Vocabulary {
 public:
  // Tokens by id, and the ids that end a sequence, ascending; those emit nothing.
  Vocabulary(std::vector<uint8_t> data, std::vector<int64_t> offsets, std::vector<int32_t> eos_ids);

  int32_t size() const { return static_cast<int32_t>(offsets_.size()) - 1; }
  int32_t num_ranks() const { return static_cast<int32_t>(token_of_rank_.size()); }
  int32_t num_whole() const { return num_whole_; }
  int32_t longest() const { return longest_; }
  size_t num_words() const { return all_words_.size(); }
  std::span<const uint8_t> token(int32_t id) const {
    return {data_.data() + offsets_[id], static_cast<size_t>(offsets_[id + 1] - offsets_[id])};
  }
  std::span<const int32_t> eos_ids() const { return eos_ids_; }
  bool is_end(int32_t id) const { return rank_of_token_[id] == num_ranks(); }

  std::span<const int32_t> token_of_rank() const { return token_of_rank_; }  // [R]
  std::span<const int32_t> rank_of_token() const { return rank_of_token_; }  // [V], R for end tokens
  const Trie& whole() const { return whole_; }
  const Trie& partial() const { return partial_; }
  // Return the mask of every token that has a rank, and of every end token.
  std::span<const uint32_t> all_words() const { return all_words_; }
  std::span<const uint32_t> eos_words() const { return eos_words_; }

 private:
  struct Sorted;
  Vocabulary(std::vector<uint8_t>&& data, std::vector<int64_t>&& offsets, std::vector<int32_t>&& eos_ids,
             Sorted&& sorted);

  std::vector<uint8_t> data_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> eos_ids_;
  int32_t num_whole_, longest_ = 0;
  std::vector<int32_t> token_of_rank_, rank_of_token_;
  std::vector<uint32_t> all_words_, eos_words_;
  Trie whole_, partial_;
};

// Return the first eight bytes as a number that compares as they do; most comparisons need no more.
uint64_t prefix_of(std::span<const uint8_t> token);

// Return whether bytes are whole characters of UTF-8.
bool is_text(std::span<const uint8_t> bytes);

}  // namespace tokenfst
