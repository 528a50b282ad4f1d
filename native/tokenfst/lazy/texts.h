// Texts: the parts of a vocabulary that many constraints treat alike, prepared once for all of them.
//
// Let S be a set of ASCII bytes, possibly with kinds of characters beyond ASCII. A state that loops on S, whatever its
// stack is, allows every token over S; and the effect of a token that only begins with characters of S is that of its
// *rest*, the part after the longest prefix over S. So for each set S that occurs in constraints, the vocabulary keeps
//
//     words    the mask of all tokens over S, including those that end inside a character beyond ASCII
//     rests    the rests of all other tokens that begin with characters of S, by their first byte, as tries: for quoted
//              text, about a thousand tokens with a few hundred rests, such as `",` and `"}`
//
// The mask of a state that loops is then the words, plus the few hundred tokens that a walk finds over the rests that
// begin with a byte that leads anywhere from the state. llguidance's slices are the words alone, with a walk over all
// tokens that are not among them.
//
// Where lengths are limited, each character of S leads to another state, along a chain of states. The words are then
// those of the tokens that are no longer than the chain. For each number of characters before a rest there is a trie of
// such rests, which is walked from the state that this number of characters leads to. Once the chain has come to a
// loop, one trie serves all greater numbers.
//
// Quoted text, and what `.` and `\S` match in it, are prepared along with the vocabulary; any other set when it is
// first met, which delays that mask. So preparation has to be fast: tokens over the set, and those that only begin with
// it, are found by the groups of characters that they consist of (`tokenfst/lazy/token_characters.h`). Rests are found
// only for the first bytes that states ask for, so that after `[a-z]+` only the tokens with a quotation mark are looked
// at byte by byte and sorted. If there are too many of them, as after `[a-z]*` where capitals follow, a walk over all
// tokens takes no longer, and the search stops.
//
// Quoted text also begins inside tokens, after `"` or ` "`. Below such a node of the vocabulary's trie, with hundreds
// of tokens, a state that loops on quoted text allows all tokens that continue with quoted text alone, plus what a walk
// over the rests of the others finds.
//
// All automata of a vocabulary share its TextLibrary, from any thread. A text is published once it is made; if two
// threads make the same one, one of the two is dropped. A lock is held only while rests are made.
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
#include <vector>

#include "automata/visibly_pushdown/fragments.h"
#include "tokenfst/lazy/token_characters.h"
#include "tokenfst/masks.h"

namespace tokenfst {

// The characters that JSON strings contain unescaped: ASCII from the space up, without quotation mark and backslash,
// and all beyond ASCII.
constexpr CharacterSet kQuoted{{automata::kPlainText.words[0], automata::kPlainText.words[1],
                                automata::kPlainText.words[2], automata::kPlainText.words[3]},
                               support::kAllKinds};
// Of these, the characters that patterns match with `.`, and those that they match with `\S`.
constexpr CharacterSet kDot{{0, ~(1u << 2), ~(1u << 28), ~0u}, support::kOther | support::kSpace};
constexpr CharacterSet kNonSpace{{0, ~(1u << 0 | 1u << 2), ~(1u << 28), ~0u}, support::kOther};

// The lengths to which the length of a cover (`tokenfst/lazy/characters.h`) is rounded down, so that few words and
// tries serve all covers.
constexpr int32_t kCovers[] = {32, 24, 16, 12, 8};

// Lengths of tokens, in bytes. A bound that no token of at most this length reaches is left out; the longer tokens are
// walked over.
constexpr int32_t kNearBounds[] = {32, 16};

// A trie of some tokens, or of their rests.
struct TokenTrie {
  Trie trie;
  std::vector<int32_t> token_of_rank;
};

// The tokens below a node of the trie of whole tokens: those that are over a set after the node's prefix, and the rests
// of the others.
struct TextBelow {
  int32_t node;
  std::vector<int32_t> over;
  TokenTrie rests;
};

// A value that is made at the first call.
template <class T>
struct Made {
  std::once_flag once;
  std::unique_ptr<const T> value;
};

// The rests of the tokens whose rest begins with one byte.
class Rests {
 public:
  // A token, and its longest prefix over the set of the text.
  struct Rest {
    int32_t token;
    CharacterPrefix before;
  };
  Rests(std::vector<Rest> rests, const Vocabulary& vocabulary);

  // Return the greatest number of characters before a rest.
  int32_t longest() const { return static_cast<int32_t>(of_length_.size()) - 1; }
  // Return the rests after `length` characters, which are at most `longest`.
  const TokenTrie& after(int32_t length) const;
  // Return the rests after at least `length` characters, which are at most `longest`.
  const TokenTrie& from(int32_t length) const;
  // Return the whole tokens whose rests come after at most `length` characters.
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
  // The rests that have been found so far: those that begin with the bytes `known`.
  struct RestTable {
    support::ByteSet known, some;  // `some`: the known bytes with which any rest begins
    std::array<std::shared_ptr<const Rests>, 256> by_first;
  };

  // The vocabulary and the characters of its tokens must outlive the text.
  Text(const CharacterSet& set, const Vocabulary& vocabulary, const TokenCharacters& characters, TokensBySet tokens);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  const CharacterSet& set() const { return set_; }
  // Return the greatest number of characters of a prefix of any token over the set.
  int32_t longest() const { return longest_; }
  // Return the mask of the tokens over the set of at most `length` characters; all of them for `longest()` or more.
  const Words& words(int32_t length) const;
  // Return a table with, among others, all rests that begin with some bytes; null if these are so many that they save
  // nothing.
  const RestTable* rests(const support::ByteSet& bytes) const;
  // Return the tokens whose longest prefix over the set has more than `length` characters.
  const TokenTrie& beyond(int32_t length) const;
  // Return the tokens below a node of the trie of whole tokens after whose prefix text over the set may begin; null
  // unless the node was prepared.
  const TextBelow* below(const TrieNode& node) const;
  // Prepare the nodes with many tokens whose prefix ends in the byte `opening`, after which text over the set may
  // begin.
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
  // At least this many rests begin with each byte; 0 unless a search found too many.
  mutable std::array<std::atomic<int32_t>, 256> least_{};
  mutable std::mutex making_;                                     // held while rests are found
  mutable std::vector<std::unique_ptr<const RestTable>> tables_;  // all tables made, as any may be in use
  mutable std::atomic<const RestTable*> table_;                   // the last one
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
  // Return the text for a set; null if there are too many sets already, or their masks take too much memory.
  const Text* find(const CharacterSet& set);
  const Text& quoted() const { return quoted_; }
  const Text& dot() const { return dot_; }
  // Return the tokens of more than `kNearBounds[number]` bytes.
  const TokenTrie& longer(size_t number) const { return *longer_[number]; }
  // Remove from a mask the tokens that begin with some bytes.
  void clear_beginning(const support::ByteSet& bytes, Words& words) const;
  // Return the number of tokens that begin with some bytes.
  int32_t num_beginning(const support::ByteSet& bytes) const;

 private:
  struct Entry {
    const CharacterSet set;
    std::atomic<const Text*> text{nullptr};
  };
  // Return the entry of a set; null if there is no room for another one.
  Entry* entry(const CharacterSet& set);
  // Call `visit(byte, tokens)` for each of some bytes with which tokens begin, once for each of the two tries.
  template <class Visit>
  void for_each_run(const support::ByteSet& bytes, Visit visit) const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const TokenCharacters characters_;
  Text quoted_, dot_;
  std::array<std::unique_ptr<const TokenTrie>, std::size(kNearBounds)> longer_;
  mutable std::array<Made<Words>, 256> beginning_;      // by byte, the tokens that begin with it, if they are many
  std::array<std::atomic<Entry*>, 1 << 11> entries_{};  // by hash; each takes the first free place from there on
  std::atomic<int> num_entries_{0};
  std::atomic<size_t> num_bytes_{0};
};

}  // namespace tokenfst
