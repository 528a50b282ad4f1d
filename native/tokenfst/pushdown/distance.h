// Distances to the end of the text with a stack, by contexts.
//
//     context   the effect of a stack on distances: a vector, the least number of tokens from nodes of each kind to
//               the end with this stack below (`tokenfst/pushdown/kinds.h`, `tokenfst/distance_vectors.h`)
//     onto      the context of a stack with one more symbol: v'[k] = min over m of across[k, (X, m)] + v[m]. Its least
//               entry is subtracted and added to the cost of the stack
//     rest      the distance from a move's target with its pushes on a stack of some context. Added to the cost of
//               that stack, it is the distance after the move
//
// The end of the sequence is reached with an empty stack. On the host contexts are computed on demand, without a limit
// on their number; tensors need all of them.
//
//     StackContexts     contexts on demand
//     ContextDistances  all contexts that occur with any stack
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/interner.h"
#include "tokenfst/pushdown/pop_distances.h"

namespace tokenfst {

class StackContexts {
 public:
  // Context 0 is that of the empty stack.
  StackContexts(const PopDistances& pop_distances, Budget& budget);

  const PopDistances& pop_distances() const { return pop_distances_; }
  int32_t size() const { return vectors_.size(); }
  // Return the context of a stack with one more symbol, and its cost; kNoEnd if no end can be reached. Whatever it
  // throws, everything that was found before stays.
  Context onto(int32_t context, int32_t symbol);
  std::span<const int32_t> vector(int32_t context) const { return vectors_[context]; }
  // Return the distance from a state with a stack of a context.
  int32_t distance(int32_t context, int32_t state) const { return vectors_[context][pop_distances_.kinds().of(state)]; }
  size_t num_bytes() const;
  // Return how many tokens follow a push onto a stack of a context, beyond those counted for it; kFar if there is no
  // path to the end.
  int32_t rest(int32_t context, int32_t push);

  static constexpr Context kNoEnd{0, kFar};

 private:
  // Compute `onto` where it is not known yet.
  Context compute_onto(int32_t context, int32_t symbol);

  const PopDistances& pop_distances_;
  Budget& budget_;
  DistanceVectors vectors_;
  support::Matrix<Context> onto_;  // [contexts, S]
  // What a symbol makes of a vector depends only on the distances from where it can be popped to: each symbol followed
  // by such distances, less the least of them, and the context of that.
  support::Interner<int32_t> below_;
  Vector<Context> above_;
  Vector<int32_t> by_push_set_, found_;
};

struct ContextDistances {
  int32_t num_contexts;
  std::vector<int32_t> next;     // [H, S], the context of a stack with one more symbol
  std::vector<int32_t> cost;     // [H, S], how many tokens are counted for that symbol
  std::vector<int32_t> rest;     // [H, R], after each kind of move; kFar if there is no path to the end
  std::vector<int32_t> rest_of;  // [M], the column of each move: many have the same rest on all stacks
  int32_t first;                 // the number of tokens from the start
};

// Return all contexts that occur with any stack, nothing if there are more than `max_contexts`.
std::optional<ContextDistances> context_distances(const PopDistances& pop_distances, int32_t max_contexts,
                                                  Budget& budget);

}  // namespace tokenfst
