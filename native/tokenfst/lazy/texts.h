// Texts: the parts of a vocabulary that many constraints treat alike, prepared once for all of them.
//
// Let S be a set of ASCII bytes, possibly with kinds of characters beyond ASCII. A state that loops on S, whatever its
// stack is, allows every token over S; and the effect of a token that only begins with characters of S is that of its
// *rest*, the part after the longest prefix over S. So for each set S that constraints have, the vocabulary keeps
//
//     words    the mask of all tokens over S, including those that end inside a character beyond ASCII
//     rests    the rests of all other tokens that begin with characters of S, by their first byte, as tries: for quoted
//              text, some thousand tokens with a few hundred rests, such as `",` and `"}`
//
// The mask of a state that loops is then the words, plus a few hundred tokens found by a walk over the rests that begin
// with a byte that leads anywhere from the state. llguidance's slices are the words alone, with a walk over all tokens
// that are not among them.
//
// Where lengths are limited, each character of S leads to another state, along a chain of states. The words are then
// those of the tokens that are no longer than the chain, and there is a trie of rests for each number of characters
// before them, walked from the state that this number of characters leads to; once the chain has come to a loop, one
// for all that come later.
//
// Quoted text, and what `.` and `\S` match in it, are prepared along with the vocabulary, any other set when it is
// first met, which delays that mask. So it has to be short: tokens over the set, and those that only begin with it, are
// found by the groups of characters that they consist of (`lazy/token_characters.h`). Rests are found for the first
// bytes that states ask for, so that after `[a-z]+` only the tokens with a quotation mark are looked at byte by byte
// and sorted. If there are very many of them, as after `[a-z]*` where capitals follow, a walk over all tokens takes no
// longer, and as soon as that is seen the search ends.
//
// Quoted text begins inside tokens too, after `"` or ` "`. Below such a node of the vocabulary's trie, with hundreds of
// tokens, a state that loops on quoted text allows the tokens that continue with nothing else, plus what a walk over
// the rests of the others finds.
//
// All automata of a vocabulary share its TextLibrary, from any thread. A text is published once it is made, and of two
// equal ones one is dropped; a lock is held only while rests are made.
//
// Rejected: finding all rests of a set at once (up to 2 ms, nearly all of it for rests that nothing asks for);
// preparing a set only when it is met for the third time (the walks before then take as long).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
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
// Those that patterns match with `.`, and those that they match with `\S`.
constexpr CharacterSet kDot{{0, ~(1u << 2), ~(1u << 28), ~0u}, support::kOther | support::kSpace};
constexpr CharacterSet kNonSpace{{0, ~(1u << 0 | 1u << 2), ~(1u << 28), ~0u}, support::kOther};

// The numbers of characters after which tokens are told apart where any text may follow (`lazy/characters.h`).
constexpr int32_t kCovers[] = {32, 24, 16, 12, 8};

// The numbers of bytes that tokens have at most where a bound that is as far away is left out.
constexpr int32_t kNearBounds[] = {32, 16};

// A trie of some tokens, or of their rests.
struct TokenTrie {
  Trie trie;
  std::vector<int32_t> token_of_rank;
};

// The tokens below a node of the trie of whole tokens, by what they are after its prefix: over a set; or their rests.
struct TextBelow {
  int32_t node;
  std::vector<int32_t> over;
  TokenTrie rests;
};

// What is made at the first call.
template <class T>
struct Made {
  std::once_flag once;
  std::unique_ptr<const T> value;
};

// The rests of the tokens whose rest begins with one byte.
class Rests {
 public:
  // A token, and its longest prefix over the set of a text.
  struct Rest {
    int32_t token;
    CharacterPrefix before;
  };
  Rests(std::vector<Rest> rests, const Vocabulary& vocabulary);

  // The greatest number of characters before a rest.
  int32_t longest() const { return static_cast<int32_t>(of_length_.size()) - 1; }
  // The rests after `length` characters, which are at most `longest`.
  const TokenTrie& after(int32_t length) const;
  // The rests after at least `length` characters, which are at most `longest`.
  const TokenTrie& from(int32_t length) const;
  // The whole tokens, of those whose rest comes after at most `length` characters.
  const TokenTrie& tokens_up_to(int32_t length) const;

 private:
  template <class Chosen>
  std::unique_ptr<const TokenTrie> trie_of(Chosen chosen) const;

  const Vocabulary& vocabulary_;
  const std::vector<Rest> sorted_;
  mutable std::vector<Made<TokenTrie>> of_length_, from_, up_to_;  // by length
};

class Text {
 public:
  // The rests that are known: those that begin with some bytes.
  struct RestTable {
    support::ByteSet known, some;  // `some`: those with which any rest begins
    std::array<std::shared_ptr<const Rests>, 256> by_first;
  };

  // The vocabulary and the characters of its tokens must outlive the text.
  Text(const CharacterSet& set, const Vocabulary& vocabulary, const TokenCharacters& characters, TokensBySet tokens);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  const CharacterSet& set() const { return set_; }
  // The number of characters of the longest prefix of any token over the set.
  int32_t longest() const { return longest_; }
  // The mask of the tokens over the set of at most `length` characters; all of them for `longest()` or more.
  const Words& words(int32_t length) const;
  // The rests, among them all those that begin with some bytes; null if these are so many that they save nothing.
  const RestTable* rests(const support::ByteSet& bytes) const;
  // The tokens whose longest prefix over the set has more than `length` characters.
  const TokenTrie& beyond(int32_t length) const;
  // The tokens below a node of the trie of whole tokens, after whose prefix text over the set may begin; null if it is
  // not one of those that were prepared.
  const TextBelow* below(const TrieNode& node) const;
  // Prepare the nodes with many tokens after whose prefix, which ends in a byte, text over the set may begin.
  void prepare_below(uint8_t opening);

 private:
  int32_t longest_prefix() const;
  bool has_many_rests(const support::ByteSet& bytes) const;
  std::unique_ptr<const RestTable> with_rests(const RestTable& known, const support::ByteSet& missing) const;
  TextBelow made_below(const TrieNode& node, size_t depth) const;

  const CharacterSet set_;
  const Vocabulary& vocabulary_;
  const TokenCharacters& characters_;
  const Words over_;     // all tokens over the set
  const Words leaving_;  // the tokens that begin with a character of the set and are not over it
  const int32_t longest_;
  // At least how many rests begin with each byte: only if they were found to be too many.
  mutable std::array<std::atomic<int32_t>, 256> least_{};
  mutable std::mutex making_;                                     // held while rests are found
  mutable std::vector<std::unique_ptr<const RestTable>> tables_;  // all that there were, as they may be in use
  mutable std::atomic<const RestTable*> table_;                   // the last of them
  mutable std::vector<Made<Words>> words_;                        // by length
  mutable std::vector<Made<TokenTrie>> beyond_;                   // by length
  std::vector<TextBelow> below_;                                  // all after the same byte
  uint8_t opening_ = 0;
};

class TextLibrary {
 public:
  explicit TextLibrary(std::shared_ptr<const Vocabulary> vocabulary);
  ~TextLibrary();
  TextLibrary(const TextLibrary&) = delete;
  TextLibrary& operator=(const TextLibrary&) = delete;

  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }
  // The text for a set; null if too much is kept for others.
  const Text* find(const CharacterSet& set);
  const Text& quoted() const { return quoted_; }
  const Text& dot() const { return dot_; }
  // The tokens of more than `kNearBounds[number]` bytes.
  const TokenTrie& longer(size_t number) const { return *longer_[number]; }
  // Take the tokens that begin with some bytes away from a mask.
  void clear_beginning(const support::ByteSet& bytes, Words& words) const;
  // The number of these tokens.
  int32_t num_beginning(const support::ByteSet& bytes) const;

 private:
  struct Entry {
    const CharacterSet set;
    std::atomic<const Text*> text{nullptr};
  };
  // The entry of a set; null if there is no room for another one.
  Entry* entry(const CharacterSet& set);
  // Visit the runs of ranks of the tokens that begin with some bytes, with the byte.
  template <class Visit>
  void for_each_run(const support::ByteSet& bytes, Visit visit) const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const TokenCharacters characters_;
  Text quoted_, dot_;
  std::array<std::unique_ptr<const TokenTrie>, std::size(kNearBounds)> longer_;
  mutable std::array<Made<Words>, 256> beginning_;      // the tokens that begin with each byte with which many do
  std::array<std::atomic<Entry*>, 1 << 11> entries_{};  // by hash, each in the first free place from there on
  std::atomic<int> num_entries_{0};
  std::atomic<size_t> num_bytes_{0};
};

}  // namespace tokenfst
