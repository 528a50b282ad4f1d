// The subset construction over configurations with a common stack.
//
// A state of the deterministic automaton is a set of elements, each a local stack and a state of the network: the
// configurations that the text so far may have led to, relative to their common stack. The common bottom part of the
// local stacks lies on the real stack, so most sets are one element with an empty local stack.
//
// Where callers differ but the called rule does not, the set is a product of stacks and of elements above them. The
// stacks become one symbol, a choice, and the elements become the state. So `return f(...)` and a call of
// `returnf(...)` are two derivations at the two ends of the brackets, and one between them.
//
//     explore    finds the steps of a set as a decision tree. The root has the columns that the elements read. Where
//                the rule of an element can end and its local stack is empty, the text continues in the caller, which
//                depends on the real stack: for each symbol that may be on top, a branch pops it and puts it under all
//                local stacks (a look)
//     group      the columns that only one leaf reads, handled together
//     collision  columns that several leaves read lead to sets; columns with equal targets are handled together
//     boundary   the continuation after words over some columns. Many states inside words end them in the same way, so
//                the boundary is one additional state, which no byte leads to; all of them share its steps
//
// Equal elements are merged, so two derivations of one text that reach the same configuration cost nothing. A grammar
// in which a set has too many elements, or a choice too many stacks, is refused: most of these grow without end.
//
// The words of a lexer (`automata/pushdown/grammar.py`) are resolved for a set as a whole. Continuing a word has
// priority: only columns that no word reads end words, and of the words that can end, the one with the highest priority
// does. Over the first byte of a character, words may also end provisionally (`automata/pushdown/provisional_ends.h`).
// What is read beside words, in rules with bytes of their own, is read in any case. A lazy word that can end does so
// before any word is read on. The symbols that may lie under a set are those that may lie under each of its elements.
//
// Only words of one *lexer* compete: a composed grammar has one for each of its parts. The words of each lexer end over
// the columns that it does not read on. To leave its lexer, a word may end over any column, as it may at the end of a
// text: what is reached then reads nothing of this lexer (`Task::outside`). Words that compete must also have begun in
// one division of the text. So a grammar is refused if words can begin beside an open word of their lexer, unless that
// leads to just what the open word leads to (`Determinizer::begins_beside_word`).
//
// For ambiguous grammars configurations advance side by side: a state is a state of the network, a state and a column
// have a step for each continuation, and words are resolved within each configuration. One column may then make any
// number of calls return: after `if a if b x`, the text continues after either `if`. Each state that such a chain of
// returns passes has another continuation, because a call that could only return was a tail call. So a chain longer
// than `max_configurations` passes more alternatives than may be carried. It is followed until a symbol repeats, which
// terminates. After that, the step leads to one state more than may be carried, each of which reads anything, so that
// the automaton reports the overflow when it runs.
//
// Symbols are the states of the network and, from `PushdownNetwork::end_state` up, the choices.
//
// Rejected: one column at a time (fifty times as many steps as groups); sets with unbounded stacks (the construction
// need not terminate).
#pragma once

#include <vector>

#include "automata/pushdown/coaccessible.h"
#include "automata/pushdown/network.h"

namespace automata {

// A step with its column: a move over it.
struct ColumnStep {
  int32_t state, column, pops, pushes, target;
  auto operator<=>(const ColumnStep&) const = default;
};

struct SharedSteps {
  int32_t state, other;  // all steps of `other` are steps of `state` as well
};

// Which bound was exceeded, so that the grammar is not deterministic, or has too many ways to continue.
// `kWords`: words compete that begin at different places.
enum class Unbounded : int32_t { kNothing, kDerivations, kStack, kPops, kWays, kWords };

struct ConstructionOptions {
  bool side_by_side;
  int32_t max_configurations;  // the most that are carried side by side
  int64_t max_states, max_ways;
};

// Rows of numbers, of any length each.
struct NumberRows {
  std::vector<int32_t> offsets{0}, numbers;
};

struct PushdownConstruction {
  // Which bound was exceeded, at which state, and with which elements, in the format of a state's elements; the rest is
  // what had been found until then.
  Unbounded unbounded = Unbounded::kNothing;
  int32_t unbounded_state = kNone;
  NumberRows unbounded_elements;

  int32_t start = 0, end = 0;    // states: where texts begin, and after the end of the text
  std::vector<int32_t> rule_of;  // of the network's states, including those that were added
  NumberRows elements;           // of each state: the size of the stack, its symbols from the bottom up, and the state
  std::vector<int32_t> came_from;
  std::vector<int32_t> too_many;  // the states that represent more configurations than may be carried
  std::vector<ColumnStep> steps;  // of each state without shared ones, in order and unique
  std::vector<SharedSteps> shared;
  std::vector<int32_t> parent, last;  // sequences, as `sequences_of` takes them; symbols are numbered in order of use
  // The symbols that may lie directly under states and symbols, by kind; the kinds of symbols come first. Numbers
  // beyond the used symbols are of symbols that no step pops or pushes.
  std::vector<int32_t> state_kind, symbol_kind;
  NumberRows below;
  std::vector<int32_t> headroom, symbol_headroom;  // `automata/pushdown/headroom.h`
};

// Throw LimitExceeded past `max_states`.
PushdownConstruction construct(const RuleNetwork& network, const ConstructionOptions& options, Budget& budget);

// Return the steps including those that states share with others, in order and unique.
std::vector<ColumnStep> with_shared(std::span<const ColumnStep> steps, std::span<const SharedSteps> shared,
                                    int32_t num_states, Budget& budget);

// Return the moves of sorted steps: the steps without their columns, in order and unique.
std::vector<Move> moves_of(std::span<const ColumnStep> steps, Budget& budget);

}  // namespace automata
