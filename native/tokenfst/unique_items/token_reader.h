// TokenReader: reads the tokens of a mask with the memory, and removes those that the memory forbids.
//
// A mask is the mask of the rules without the tokens in which an item wrongly repeats an earlier one, or after which
// the text cannot continue. Few tokens need to be read. Below a prefix that has settled that the item differs, only
// tokens that continue to another item can be wrong; and of these, those after which a string may continue without end
// (`Endless`) are not.
//
// Rejected: an automaton of the next item's language minus the items so far, made again for each array (one such
// difference is as large as all spellings of an object); marking tokens by what they may write as an item (most marks
// are never asked for).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tokenfst/unique_items/endless.h"
#include "tokenfst/unique_items/reader.h"
#include "tokenfst/unique_items/separating_tokens.h"

namespace tokenfst::unique_items {

// A function that is called with each token after which the current item or name has rivals, or in which an item
// repeats an earlier one, and with the position that it leads to; null for a token that is not allowed.
using VisitDoubtful = std::function<void(int32_t token, const Position* reached)>;

class TokenReader {
 public:
  TokenReader(std::unique_ptr<Reader> reader, std::shared_ptr<const SeparatingTokens> tokens)
      : reader_(std::move(reader)),
        tokens_(std::move(tokens)),
        endless_(*reader_, *tokens_) {}

  Reader& reader() const { return *reader_; }
  const SeparatingTokens& tokens() const { return *tokens_; }

  // Both functions require that the caller holds the marked automaton, and that `words` are the tokens that the rules
  // allow at a position. They throw TooLong as the reader does.

  // Remove from a mask the tokens that are not allowed, or after which the text cannot continue.
  void clear(const Position& position, std::span<uint32_t> words);
  // Visit the tokens after which the current item or name has rivals, or in which an item repeats an earlier one.
  void visit_doubtful(const Position& position, std::span<const uint32_t> words, const VisitDoubtful& visit);

 private:
  // What one walk looks for.
  struct Walk {
    std::span<const uint32_t> words;
    const VisitDoubtful& visit;
    // How many items had repeated an earlier one before the token.
    int64_t num_repeats;
    // The state in which the walk begins, if it leaves out tokens after which a string may continue without end;
    // otherwise kNotAllowed.
    int64_t start = LazyAutomaton::kNotAllowed;

    // Return whether the walk visits the tokens that lead to a position.
    bool is_about(const Position& reached) const {
      return reached.memory.has_rivals() || reached.num_repeats > num_repeats;
    }
  };

  void visit_all(const Walk& walk, const Position& position);
  void visit_below(const Walk& walk, const Position& position, const Trie& trie, const TrieNode& node, size_t depth);
  void visit_separating(const Walk& walk, const Position& position, const TrieNode& node, size_t depth,
                        const support::ByteSet& read_apart);
  void visit_run(const Walk& walk, int32_t first_rank, int32_t end_rank, const Position* reached);
  void read_sorted(const Walk& walk, const Position& position, std::span<const int32_t> ranks, size_t depth);
  std::span<const int32_t> closing(const Walk& walk, const TrieNode& node, size_t depth);

  const std::unique_ptr<Reader> reader_;
  const std::shared_ptr<const SeparatingTokens> tokens_;
  Endless endless_;
};

}  // namespace tokenfst::unique_items
