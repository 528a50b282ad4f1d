// The subset construction over configurations with a common stack.
//
// A state of the deterministic automaton is a set of elements, each a local stack and a state of the network: the
// configurations that the text so far may have led to, as far as they differ. What all local stacks begin with lies on
// the real stack, so most sets are one element with an empty local stack, which is a state of the network.
//
// Where callers differ but what is called does not, the set is a product: any of some stacks, with any of some elements
// above it. The stacks become one symbol, a choice, and the elements above it the state. So `return f(...)` and a call
// of `returnf(...)` are two derivations at both ends of the brackets, but not within them.
//
//     explore    the steps of a set: a decision tree. At its root, what the elements can read by themselves. Where an
//                element's rule can end and its local stack is empty, the text goes on where the caller does, which the
//                real stack tells: for each symbol that may lie there, the step pops it, it is put under all local
//                stacks, and the tree has a branch (a look)
//     group      many columns at once: those that only one place reads
//     collision  columns that several places read lead to sets; those that lead to the same places do so together
//     boundary   what follows words over some columns. Many states inside words end them in the same way: it is one
//                more state, that no byte leads to, explored once, whose steps all of them share
//
// Elements that have become equal are one, so two derivations of the same text that lead to the same place cost
// nothing.
//
// Words (see `automata/pushdown/grammar.py`) are resolved in a set as a whole: what a place reads comes first, and only
// columns that none does read end words, of those that can end the one of the highest priority. A lazy word that can
// end does so before anything is read. Which symbols may lie under a set: those that may lie under each of its
// elements.
//
// Side by side, for grammars that are ambiguous, each configuration goes on by itself: a state is a state of the
// network, and a state and a column have a step for each way on; words are resolved within each configuration. There
// one column may let any number of calls return at once: after `if a if b x`, what follows both. Each place that such a
// chain of returns passes could go on otherwise, because what returns at once and can do nothing else was a tail call.
// So a chain longer than `max_configurations` passes more ways on than may be carried. It is followed as long as no
// symbol comes twice, which has an end. Otherwise the step leads to one state more than may be carried, each of which
// reads anything, so that whoever runs the automaton notices.
//
// Symbols are the network's states, and from `NetworkPlaces::end_state` up the choices.
//
// Rejected: one column at a time (fifty times as many steps as groups); sets with their stacks unbounded (a
// construction that need not end, in place of an answer).
#pragma once

#include <vector>

#include "automata/pushdown/leading_on.h"
#include "automata/pushdown/places.h"

namespace automata {

// A step with its column: a move over it.
struct ColumnStep {
  int32_t state, column, pops, pushes, target;
  auto operator<=>(const ColumnStep&) const = default;
};

struct SharedSteps {
  int32_t state, other;  // all steps of the other are steps of the state as well
};

// What went past a bound, so that the grammar is not deterministic, or has too many ways on.
enum class Unbounded : int32_t { kNothing, kDerivations, kStack, kPops, kWays };

struct ConstructionOptions {
  bool side_by_side;
  int32_t max_configurations;  // that are carried, side by side
  int64_t max_states, max_ways;
};

// Rows of numbers.
struct NumberRows {
  std::vector<int32_t> offsets{0}, numbers;
};

struct Construction {
  // What went past a bound, at which state, and with which elements, as those of a state; the rest is what was found by
  // then.
  Unbounded unbounded = Unbounded::kNothing;
  int32_t unbounded_state = kNone;
  NumberRows unbounded_elements;

  int32_t start = 0, end = 0;    // states: where texts begin, and after the end of the text
  std::vector<int32_t> rule_of;  // of the network's states, with those that were added
  NumberRows elements;           // of each state: the size of the stack, its symbols from the bottom up, and the state
  std::vector<int32_t> came_from;
  std::vector<int32_t> too_many;  // the states that stand for more configurations than may be carried
  std::vector<ColumnStep> steps;  // of each state alone, in order, each once
  std::vector<SharedSteps> shared;
  std::vector<int32_t> parent, last;  // sequences, as `sequences_of` takes them; symbols are numbered as they are used
  // The symbols that may lie directly under states and symbols, by kinds, of which those of symbols come first.
  // Numbers past those of all symbols are of symbols that no step pops or pushes.
  std::vector<int32_t> state_kind, symbol_kind;
  NumberRows below;
  std::vector<int32_t> headroom, symbol_headroom;  // `automata/pushdown/headroom.h`
};

// Throws LimitExceeded past `max_states`.
Construction construct(const RuleNetwork& network, const ConstructionOptions& options, Budget& budget);

// Steps in order, with those that states share with others, each once.
std::vector<ColumnStep> with_shared(std::span<const ColumnStep> steps, std::span<const SharedSteps> shared,
                                    int32_t num_states, Budget& budget);

// Steps, which are in order, without their columns; in order, each once.
std::vector<Move> moves_of(std::span<const ColumnStep> steps, Budget& budget);

}  // namespace automata
