// Texts: the parts of a vocabulary that many constraints treat alike, prepared once for all of them.
//
// Let S be a set of ASCII bytes, possibly with kinds of characters beyond ASCII. A state that loops on S, whatever its
// stack is, allows every token over S; and the effect of a token that only begins with characters of S is that of its
// *rest*, the part after the longest prefix over S. So for each set S that constraints have, the vocabulary keeps
//
//     words    the mask of all tokens over S, including those that end inside a character beyond ASCII
//     rests    the trie of the rests of all other tokens that begin with characters of S: for quoted text, some
//              thousand tokens with a few hundred rests, such as `",` and `"}`
//
// The mask of a state that loops is then the words, plus a few hundred tokens found by a walk that visits a few hundred
// nodes. llguidance's slices are the words alone, with a walk over all tokens that are not among them.
//
// Where lengths are limited, each character of S leads to another state, along a chain of states. The words are then
// those of the tokens that are no longer than the chain, and there is a trie of rests for each number of characters
// before them, walked from the state that this number of characters leads to.
//
// Quoted text is prepared along with the vocabulary. Any other set is prepared when it is met for the third time, which
// delays that mask, so it has to be short: one pass over the characters of all tokens (`lazy/token_characters.h`) finds
// those over the set, and only the others, a few thousand, are looked at byte by byte and sorted. If very many tokens
// have a rest, as for a set without spaces, a walk over the rests is no shorter than one over all tokens, and there is
// nothing to prepare.
//
// All automata of a vocabulary share its TextLibrary, from any thread. There is no lock: a text is published once it is
// made, and of two equal ones one is dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tokenfst/lazy/token_characters.h"
#include "tokenfst/masks.h"

namespace tokenfst {

// The characters that JSON strings contain unescaped: printable ASCII without quotes and backslashes, and all beyond
// ASCII.
constexpr CharacterSet kQuoted{{0, ~(1u << 2), ~(1u << 28), ~0u}, support::kAllKinds};

// The numbers of characters after which tokens are told apart where any text may follow (`lazy/characters.h`).
constexpr int32_t kCovers[] = {16, 8};

// A trie of some tokens, or of their rests.
struct TokenTrie {
  Trie trie;
  std::vector<int32_t> token_of_rank;
};

class Text {
 public:
  // The vocabulary and the characters of its tokens must outlive the text.
  Text(const CharacterSet& set, const Vocabulary& vocabulary, const TokenCharacters& characters);

  const CharacterSet& set() const { return set_; }
  // Whether there are few enough rests that walking over them saves anything; if not, there is nothing more.
  bool is_short_cut() const { return is_short_cut_; }
  // The number of characters of the longest prefix of any token over the set.
  int32_t longest() const { return longest_; }
  // The mask of the tokens over the set of at most `length` characters; all of them for `longest()` or more.
  const Words& words(int32_t length) const;
  // The rests of all tokens; and of those with `length` characters of the set before the rest.
  const TokenTrie& rests() const;
  const TokenTrie& rests(int32_t length) const;
  // The tokens that begin with a character of the set, except those over the set of at most `length` characters.
  const TokenTrie& beyond(int32_t length) const;

 private:
  // A token that begins with characters of the set and is not over it.
  struct Rest {
    int32_t token;
    CharacterPrefix before;
  };
  // Made at the first call.
  template <class T>
  struct Made {
    std::once_flag once;
    std::unique_ptr<const T> value;
  };
  std::span<const uint8_t> text_of(const Rest& rest) const {
    return vocabulary_.token(rest.token).subspan(rest.before.size);
  }
  void sort_rests();
  template <class Chosen>
  std::unique_ptr<const TokenTrie> trie_of_rests(Chosen chosen) const;

  const CharacterSet set_;
  const Vocabulary& vocabulary_;
  const TokenCharacters& characters_;
  Words over_;  // all tokens over the set
  bool is_short_cut_ = true;
  int32_t longest_ = 0;
  std::vector<Rest> rests_by_text_;
  mutable Made<TokenTrie> rests_;
  mutable std::vector<Made<Words>> words_;                  // by length
  mutable std::vector<Made<TokenTrie>> rests_of_, beyond_;  // by length
};

class TextLibrary {
 public:
  explicit TextLibrary(std::shared_ptr<const Vocabulary> vocabulary);
  ~TextLibrary();
  TextLibrary(const TextLibrary&) = delete;
  TextLibrary& operator=(const TextLibrary&) = delete;

  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }
  // The text kept for a set; null if there is none, or if the set has not been met often enough.
  const Text* find(const CharacterSet& set);
  // The text kept for quoted text; null if it saves nothing.
  const Text* quoted() const { return quoted_.is_short_cut() ? &quoted_ : nullptr; }

 private:
  struct Entry {
    const CharacterSet set;
    std::atomic<int> times_met{0};
    std::atomic<bool> pays{true};  // whether it saves anything, as far as is known
    std::atomic<const Text*> text{nullptr};
    Entry* next = nullptr;
  };
  // The entry of a set; null if there is no room for another one.
  Entry* entry(const CharacterSet& set);

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const TokenCharacters characters_;
  const Text quoted_;
  std::atomic<Entry*> first_{nullptr};
  std::atomic<int> num_entries_{0};
};

}  // namespace tokenfst
