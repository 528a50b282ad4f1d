// CanonicalAutomaton: accepts, of each text of a language, only the tokenization that the vocabulary's encoder
// produces.
//
// Tables over all pairs of a state of an automaton over tokens and a token of the vocabulary would take gigabytes. So
// a state is such a pair, packed into one number, and its two parts are stored separately:
//
//     text state   the text so far, and where its pieces may end: a subset of product states
//                  (`tokenfst/canonical/subsets.h`). There are S, the last for the end of the sequence
//     token        the last token if the next one depends on it, otherwise 0. A state is text state x V + token
//     mask         the classes allowed after any token, and, of the classes allowed after some tokens only, the tokens
//                  that may follow the last one
//
// The tokens that may not follow a token are a few intervals of positions (`tokenfst/canonical/pairs.h`). So the mask
// of a state is two masks of its text state, with a few thousand bits cleared; or, if few tokens depend on the last
// one, that many look-ups. The tables never change; masks of text states are made on demand and cached.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/bounded_cache.h"
#include "tokenfst/automaton.h"
#include "tokenfst/canonical/subsets.h"

namespace tokenfst::canonical {

class CanonicalAutomaton : public Automaton {
 public:
  struct Tables {
    Subsets subsets;                // including the one after the end, which is final and has no edges
    std::vector<int32_t> class_of;  // [V], -1 for tokens that are never written
    std::shared_ptr<const Pairs> pairs;
  };

  // Keep the masks of at most `max_masks` text states.
  CanonicalAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Tables tables, size_t max_masks);

  const Tables& tables() const { return tables_; }
  int32_t num_classes() const { return static_cast<int32_t>(member_offsets_.size()) - 1; }
  int64_t num_states() const { return int64_t{tables_.subsets.size()} * vocabulary().size(); }
  int64_t end_state() const { return num_states() - vocabulary().size(); }
  bool has_state(int64_t state) const { return 0 <= state && state < num_states(); }
  size_t num_bytes() const;

  bool is_final(int64_t state) const { return tables_.subsets.final[text_state_of(state)] != 0; }
  // Return the state after one more token, -1 if it is not allowed.
  int64_t advance(int64_t state, int32_t token) const;
  // Return the least number of tokens to the end of the text, counting the end token.
  int32_t min_tokens(int64_t state) const;

  void fill(const State& state, int64_t remaining, std::span<uint32_t> out) override;
  // Do the same if the masks of the text state are kept, and nothing otherwise; never wait for another thread.
  bool fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) const;

 private:
  // The tokens that a text state allows: after any token, and after some tokens only.
  struct TextStateMasks {
    std::vector<uint32_t> always, conditional;  // packed; `conditional` is empty where `few` has them
    std::vector<int32_t> few;
  };
  // A text state, and the greatest number of tokens to go that a budget allows; kAll if it allows everything that the
  // text state does.
  struct MaskKey {
    int32_t text_state, level;
    bool operator==(const MaskKey&) const = default;
  };

  int32_t text_state_of(int64_t state) const { return static_cast<int32_t>(state / vocabulary().size()); }
  int32_t token_of(int64_t state) const { return static_cast<int32_t>(state % vocabulary().size()); }
  std::span<const int32_t> members(int32_t number) const {
    return {members_.data() + member_offsets_[number], members_.data() + member_offsets_[number + 1]};
  }
  MaskKey key_of(int32_t text_state, int64_t remaining) const;
  TextStateMasks made(const MaskKey& key) const;
  void write(const TextStateMasks& masks, int32_t last, std::span<uint32_t> out) const;
  int32_t least_conditional(int32_t text_state, int32_t last, int32_t best) const;

  const Tables tables_;
  std::vector<uint8_t> needs_token_;     // [S], whether the tokens that may come next depend on the last token
  std::vector<int32_t> member_offsets_;  // [K + 1], where the tokens of each class begin
  std::vector<int32_t> members_;
  support::SharedCache<MaskKey, TextStateMasks> masks_;
};

}  // namespace tokenfst::canonical
