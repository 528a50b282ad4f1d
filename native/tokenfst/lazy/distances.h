// Distances of the configurations of a lazy automaton to the end of the text, found when they are asked for.
//
//     DistanceSource   how far states are from the end on a stack of some context (`tokenfst/distance_vectors.h`), and
//                      the effect of one more symbol on a context. The machine decides which source is used:
//                      ByteDistances here, NfaDistances in `tokenfst/lazy/nfa_distances.h`
//     StackDistances   the context of each cell, and with it the distances of configurations
//
// The end token is counted, whether the vocabulary has one or not. A distance is a number of tokens that suffices; the
// least number may be smaller. Every byte is a token, so distances are found byte by byte, without looking at the
// vocabulary, except for literal texts of a visibly pushdown grammar. From each configuration with a distance above 0
// some token leads to one with a smaller distance.
#pragma once

#include <cstdint>

#include "support/hash.h"
#include "tokenfst/distance_vectors.h"
#include "tokenfst/lazy/machine.h"

namespace tokenfst {

// Upper bounds on the distance to the end: once a symbol of the stack is popped, and after a token that pops it, both
// beyond the distance counted for the stack below; kFar where none is known.
struct Bound {
  int32_t rest, beyond;
};

class DistanceSource {
 public:
  virtual ~DistanceSource() = default;

  // Return the context of the empty stack.
  virtual Context bottom() const = 0;
  // Return the distance from a state on a stack of a context, beyond the cost counted for the stack.
  virtual int32_t distance(int32_t context, int32_t state) = 0;
  // Return the context of a stack with one more symbol.
  virtual Context above(int32_t context, int32_t symbol) = 0;
  // Return whether each text of at most `longest` bytes brings the end equally nearer from a state and from all others
  // that differ only in a count (`SubsetMachine::far_state`) and for which this is true.
  virtual bool is_even(int32_t, int32_t) { return false; }
  // Return an upper bound on the distance after a token from a state, if the token pops nothing, beyond the distance
  // counted for the stack; kFar if none is known.
  virtual int32_t bound_of_state(int32_t) { return kFar; }
  virtual Bound bound_of_symbol(int32_t) { return {kFar, kFar}; }
};

// The source for an automaton without a stack: the number of bytes to an end.
class ByteDistances : public DistanceSource {
 public:
  ByteDistances(FixedMachine& machine, Budget& budget);

  Context bottom() const override { return {0, 1}; }
  int32_t distance(int32_t, int32_t state) override { return distances_[state]; }
  Context above(int32_t, int32_t) override { return kNoContext; }
  int32_t bound_of_state(int32_t) override { return farthest_; }

 private:
  Vector<int32_t> distances_;  // [Q]
  int32_t farthest_ = 0;
};

class StackDistances {
 public:
  StackDistances(DistanceSource& source, const Stacks& stacks, Budget& budget)
      : source_(source),
        stacks_(stacks),
        contexts_(1, source.bottom(), budget),
        bounds_(1, Bound{1, 1}, budget),
        above_(budget) {}

  // Find the contexts of all kept cells.
  void follow() { add(num_followed_, stacks_.num_kept()), num_followed_ = stacks_.num_kept(); }
  // Return an upper bound on the distance after any token from a configuration; kFar if none is known.
  int32_t bound(int32_t state, int32_t top);
  // Find the contexts of the cells from `first` up to `end`, such as temporary cells that a walk has pushed.
  void add(int32_t first, int32_t end);
  const Context& context(int32_t cell) const { return contexts_[cell]; }
  bool is_even(int32_t state, int32_t longest) { return source_.is_even(state, longest); }
  // Return the distance from a configuration, kFar if it is not known.
  int32_t distance(int32_t state, int32_t top);

 private:
  struct Symbol {
    int32_t context, symbol;
    bool operator==(const Symbol&) const = default;
  };

  DistanceSource& source_;
  const Stacks& stacks_;
  int32_t num_followed_ = 1;
  Vector<Context> contexts_;  // by cell
  Vector<Bound> bounds_;      // by kept cell, of the whole stack from there down
  support::Map<Symbol, Context, support::Hash> above_;
};

}  // namespace tokenfst
