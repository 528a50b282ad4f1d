// Endless: the states where a string may continue without end, so that tokens need not be read with the memory.
//
// After a comma all earlier items are rivals, so each token that ends a string and continues to another item would have
// to be read with the memory: about a hundred tokens of a vocabulary of 128,000. Most of them only begin the next item.
// Where the grammar lets a string of any length follow, some continuation of it is none of the rivals, which are
// finitely many. Whether that is so depends on the state of the marked automaton alone, so it is found once for each
// state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenfst/unique_items/reader.h"
#include "tokenfst/unique_items/separating_tokens.h"

namespace tokenfst::unique_items {

class Endless {
 public:
  Endless(Reader& reader, const SeparatingTokens& tokens) : reader_(reader), tokens_(tokens) {}

  // Everything below requires that the caller holds the marked automaton.

  // Return whether each plain character (`is_plain`) leads from a state to itself.
  bool loops(int64_t state);
  // Return the tokens of `SeparatingTokens::closing`, by rank, that have to be read with the memory, if the current
  // scalar is a string without rivals, outside of escapes. `words` has the tokens that the rules allow; the answer is
  // kept by state, so they must follow from it. Valid until the next call.
  std::span<const int32_t> left(int64_t state, std::span<const uint32_t> words);

 private:
  // The most states for which answers are kept; beyond that, all are dropped.
  static constexpr size_t kMaxKept = 1 << 12;

  int64_t after(int64_t state, std::span<const uint8_t> text);
  int64_t after(int64_t state, std::string_view text);
  bool leads(int64_t state);
  bool leads_in(int64_t state);
  void add_left(int64_t state, const SeparatingTokens::Stem& stem, std::span<const uint32_t> words,
                std::vector<int32_t>& left);

  Reader& reader_;
  const SeparatingTokens& tokens_;
  std::unordered_map<int64_t, bool> loops_;
  std::unordered_map<int64_t, std::vector<int32_t>> left_;
};

}  // namespace tokenfst::unique_items
