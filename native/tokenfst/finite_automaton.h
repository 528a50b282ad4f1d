// FiniteAutomaton: an exact deterministic automaton over tokens without a stack.
//
//     state 0 .. Q - 2     where a text can stand between two tokens
//     state Q - 1          the end of the sequence, after an end token
//
// The tables never change; masks and distances are made on demand and cached.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "support/owned_mutex.h"
#include "tokenfst/automaton.h"
#include "tokenfst/masks.h"
#include "tokenfst/token_distances.h"
#include "tokenfst/transitions.h"

namespace tokenfst {

class FiniteAutomaton : public Automaton {
 public:
  struct Tables {
    int64_t start;
    std::vector<uint8_t> final;  // [Q], by control state; the one after the end is final
    Transitions transitions;
    std::vector<ClassRun> runs;  // the class of every rank
    int32_t num_classes;
  };
  // The space that the automaton may take in addition to its tables: cached masks, and bytes for data computed on
  // demand.
  struct Capacity {
    size_t max_masks;
    int64_t max_bytes;
  };

  FiniteAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Tables tables, Capacity capacity,
                  Budget::Interrupt interrupt);

  const Tables& tables() const { return tables_; }
  int64_t num_states() const { return num_states_; }
  int64_t end_state() const { return num_states_ - 1; }
  bool has_state(int64_t state) const { return 0 <= state && state < num_states_; }
  size_t num_bytes() const;
  int32_t class_of(int32_t token) const;

  bool is_final(int64_t state) const;
  // Return the state after one more token, kDead if it is not allowed.
  int64_t advance(int64_t state, int32_t token) const;
  // Return the classes that a state allows, and where they lead.
  std::vector<Successor> successors(int64_t state) const;
  int64_t alike(int64_t state) const;
  // Return the least numbers of tokens to the end of the text, found at the first call.
  const TokenDistances& distances();
  // Return the same numbers by state, which takes four bytes for every register value.
  std::vector<int32_t> min_tokens_by_state();
  bool has_distances() const { return has_distances_.load(std::memory_order_acquire); }

  void fill(const State& state, int64_t remaining, std::span<uint32_t> out) override;
  // Do the same if the mask is kept, and nothing otherwise: never waits for another thread.
  bool fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out) const;

 private:
  // The key of a mask, and the classes that it allows.
  struct Allowed {
    MaskKey key;
    std::vector<int32_t> numbers;
  };
  Allowed allowed(int64_t state) const;
  Allowed allowed_within(int64_t state, int64_t remaining) const;
  const ClassMasks& class_masks();

  const Tables tables_;
  const int64_t num_states_;
  MaskCache masks_;
  support::OwnedMutex mutex_;  // guards the data made at the first call
  Budget budget_;              // of the same
  std::optional<ClassMasks> class_masks_;
  std::optional<TokenDistances> distances_;
  std::atomic<bool> has_distances_{false};
};

}  // namespace tokenfst
