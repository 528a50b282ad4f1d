// SeparatingTokens: the few tokens of a vocabulary in which another item may begin, found by their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tokenfst/vocabulary.h"

namespace tokenfst::unique_items {

class SeparatingTokens {
 public:
  // A text that ends a string, contains the comma after it, and extends to the quote that begins the next string or to
  // the end of the token; and the tokens that consist of this text and plain text around it.
  struct Stem {
    std::string text;
    std::vector<int32_t> ranks;
  };

  explicit SeparatingTokens(std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  int32_t id(int32_t rank) const { return vocabulary_->token_of_rank()[rank]; }
  std::span<const uint8_t> text(int32_t rank) const { return vocabulary_->token(id(rank)); }

  // Return the ranks, ascending, of the tokens that may open an array and continue to a second item in it; of those
  // that may end a string and continue to another item or member; and of all that may continue to another item or
  // member.
  std::span<const int32_t> opening() const { return opening_; }
  std::span<const int32_t> closing() const { return closing_; }
  std::span<const int32_t> separating() const { return separating_; }
  // Return the tokens of `closing`: those with a stem, by stem; and the others.
  std::span<const Stem> stems() const { return stems_; }
  std::span<const int32_t> without_stem() const { return without_stem_; }

 private:
  void classify(int32_t rank);
  void group_by_stem();

  const std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<int32_t> opening_, closing_, separating_, without_stem_;
  std::vector<Stem> stems_;
};

// Return whether a text is plain: ASCII that strings contain unescaped, except DEL.
bool is_plain(std::span<const uint8_t> text);

}  // namespace tokenfst::unique_items
