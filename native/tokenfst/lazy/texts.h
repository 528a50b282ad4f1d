// Texts: the parts of a vocabulary that many constraints treat alike, prepared once for all of them.
//
// Let S be a set of ASCII bytes, possibly with every character beyond ASCII. A state that loops on S, whatever its
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
// Sets are prepared when they are met for the third time, which takes some milliseconds each, except for the set of
// quoted text. If very many tokens have a rest, as for a set without spaces, a walk over the rests is no shorter than
// one over all tokens, and there is nothing to prepare.
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

#include "tokenfst/masks.h"
#include "tokenfst/trie.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

// A set of characters: the ASCII bytes as bits, and whether it contains all characters beyond ASCII.
struct CharacterSet {
  uint32_t ascii[4] = {};
  uint32_t beyond = 0;  // all bits or none

  bool operator==(const CharacterSet&) const = default;
  bool is_empty() const { return !(ascii[0] | ascii[1] | ascii[2] | ascii[3] | beyond); }
  // Whether a character that begins with a byte is in the set.
  bool begins(uint8_t byte) const { return byte < 0x80 ? support::has_bit(ascii, byte) : beyond != 0; }
  bool holds(const CharacterSet& other) const {
    return !((other.ascii[0] & ~ascii[0]) | (other.ascii[1] & ~ascii[1]) | (other.ascii[2] & ~ascii[2]) |
             (other.ascii[3] & ~ascii[3]) | (other.beyond & ~beyond));
  }
};

// The characters that JSON strings contain unescaped: printable ASCII without quotes and backslashes, and all beyond
// ASCII.
constexpr CharacterSet kQuoted{{0, ~(1u << 2), ~(1u << 28), ~0u}, ~0u};

// A trie of some tokens, or of their rests.
struct TokenTrie {
  Trie trie;
  std::vector<int32_t> token_of_rank;
};

class Text {
 public:
  Text(const CharacterSet& set, const Vocabulary& vocabulary);

  const CharacterSet& set() const { return set_; }
  // Whether there are few enough rests that walking over them saves anything.
  bool is_short_cut() const;
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
  // The part of a token that is over the set.
  struct Cut {
    int32_t size;    // in bytes; -1 for tokens that have no rest
    int32_t length;  // in characters, including an incomplete last one if all of the token is over the set
    bool is_whole;
  };
  // Made at the first call.
  template <class T>
  struct Made {
    std::once_flag once;
    std::unique_ptr<const T> value;
  };
  Cut cut(std::span<const uint8_t> token) const;
  template <class Chosen>
  std::unique_ptr<const TokenTrie> trie_of(Chosen chosen, bool of_rests) const;

  const CharacterSet set_;
  const Vocabulary& vocabulary_;
  std::vector<Cut> cuts_;  // by token
  int32_t longest_ = 0, num_rests_ = 0;
  mutable Made<TokenTrie> rests_;
  mutable std::vector<Made<Words>> words_;                  // by length
  mutable std::vector<Made<TokenTrie>> rests_of_, beyond_;  // by length
};

class TextLibrary {
 public:
  explicit TextLibrary(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}
  ~TextLibrary();
  TextLibrary(const TextLibrary&) = delete;
  TextLibrary& operator=(const TextLibrary&) = delete;

  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }
  // The text kept for a set; null if there is none, or if the set has not been met often enough.
  const Text* find(const CharacterSet& set);
  // The text kept for quoted text; null if it saves nothing.
  const Text* quoted();

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
  const Text* met(const CharacterSet& set, int times);

  const std::shared_ptr<const Vocabulary> vocabulary_;
  std::atomic<Entry*> first_{nullptr};
  std::atomic<int> num_entries_{0};
};

}  // namespace tokenfst
