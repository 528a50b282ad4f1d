// Texts: the parts of a vocabulary that many constraints treat alike, found once for all of them.
//
// Let S be some ASCII bytes, and maybe every character beyond ASCII. A state that loops on S, whatever its stack is,
// allows every token over S; and what it does to a token that only begins with some of S is what it does to the *rest*,
// behind the longest beginning over S. So for each set S that constraints have, the vocabulary keeps
//
//     words    the mask of all tokens over S, those that end inside a character beyond ASCII included
//     rests    the trie of the rests of all other tokens that begin with some of S: for what stands in quotes, some
//     thousand
//              tokens with a few hundred rests, such as `",` and `"}`
//
// The mask of a state that loops is then the words, and a few hundred tokens found by a walk that looks at a few
// hundred nodes. llguidance's slices are the words alone, with a walk over whatever tokens they do not hold.
//
// Where lengths are limited, each character of S leads to another state, as far as the chain of them goes. The words
// are then those of the tokens that are not longer than that, and there is a trie of rests for each number of
// characters before them, walked from the state that so many lead to.
//
// Sets are prepared when they are met for the third time, some milliseconds each, except for what quoted text holds.
// Where very many tokens have a rest, as of a set without spaces, a walk over the rests is no shorter than one over
// everything, and there is nothing to prepare.
//
// All automata of a vocabulary share its TextLibrary, from any thread. There is no lock: a text is put in place when it
// is made, and of two equal ones one is dropped.
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

// A set of characters: the ASCII bytes as bits, and whether all characters beyond ASCII are among them.
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

// What JSON's strings hold as it is: printable ASCII without quotes and backslashes, and all beyond ASCII.
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
  // Whether the rests are so few that walking over them saves anything.
  bool is_short_cut() const;
  // How many characters the longest beginning over the set has, of any token.
  int32_t longest() const { return longest_; }
  // The mask of the tokens over the set of at most so many characters; all of them for `longest()` or more.
  const Words& words(int32_t length) const;
  // The rests of all tokens; and of those with so many characters of the set before.
  const TokenTrie& rests() const;
  const TokenTrie& rests(int32_t length) const;
  // The tokens that begin with a character of the set, but for those over the set of up to so many.
  const TokenTrie& beyond(int32_t length) const;

 private:
  // How much of a token is over the set.
  struct Cut {
    int32_t size;    // in bytes; -1 for tokens that have no rest
    int32_t length;  // in characters; one that the token ends inside of is counted if all of the token is over the set
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
  // What is kept for a set; null where there is nothing, or it has not been met often enough.
  const Text* find(const CharacterSet& set);
  // What is kept for quoted text; null where it is no short cut.
  const Text* quoted();

 private:
  struct Entry {
    const CharacterSet set;
    std::atomic<int> times_met{0};
    std::atomic<bool> pays{true};  // whether it is a short cut, as far as is known
    std::atomic<const Text*> text{nullptr};
    Entry* next = nullptr;
  };
  // The entry of a set; null where there is room for no more.
  Entry* entry(const CharacterSet& set);
  const Text* met(const CharacterSet& set, int times);

  const std::shared_ptr<const Vocabulary> vocabulary_;
  std::atomic<Entry*> first_{nullptr};
  std::atomic<int> num_entries_{0};
};

}  // namespace tokenfst
