// Automaton: the interface of every automaton over tokens, whatever its states are.
//
// A state is a number, or an object if it has a stack. A mask within a budget of `remaining` tokens, counting the next
// one and the end token, holds the tokens after which the text can still be completed; kUnlimited means no budget.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "tokenfst/vocabulary.h"

namespace tokenfst {

constexpr int64_t kUnlimited = int64_t{1} << 60;

// A state that is more than a number.
class StateObject {
 public:
  virtual ~StateObject() = default;
};

using State = std::variant<int64_t, std::shared_ptr<const StateObject>>;

class Automaton {
 public:
  explicit Automaton(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~Automaton() = default;
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const std::shared_ptr<const Vocabulary>& shared_vocabulary() const { return vocabulary_; }

  // Write the mask of a state; words past the vocabulary are cleared. Safe to call from several threads, without
  // Python's lock. Throw std::invalid_argument if the state does not belong to this automaton.
  virtual void fill(const State& state, int64_t remaining, std::span<uint32_t> out) = 0;

 private:
  const std::shared_ptr<const Vocabulary> vocabulary_;
};

// One mask of a batch.
struct MaskJob {
  Automaton* automaton;
  State state;
  int64_t remaining;
};

// Fill one row of `out` for each job, on at most `num_threads` threads. Rows are at least as wide as the widest
// vocabulary.
void fill_masks(std::span<const MaskJob> jobs, std::span<uint32_t> out, size_t width, int num_threads);

}  // namespace tokenfst
