// Turns the deterministic automaton of all rules into a pushdown automaton, without a search.
//
//     a byte to a state that calls rule r        pushes the symbol of that state, leads to the start of r
//     a byte to a state where r ends in exit i   pops the symbol of any call of r, leads to its state after exit i
//
// The symbol of a call is the state that the call leads to, which determines the continuation after each exit. So
// calls of one rule with equal continuations share a symbol, and at most one step applies in any configuration.
#pragma once

#include "automata/visibly_pushdown/determinize.h"
#include "support/matrix.h"

namespace automata {

// What may be wrong with a visibly pushdown grammar.
enum class FaultKind : int32_t {
  kNone,
  kTwoRules,  // two rules are called after the same text
  kReadOn,    // something else can be read where a rule is called or ends
  kTwoExits,  // a rule ends in two exits after the same text
  kAtOnce,    // nothing is read between two calls, or before a rule's first call or its end
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  int32_t rule = 0, other = 0;  // the rules concerned
};

// A symbol of the stack: the rule that is called, and the rule that calls it.
struct CallSymbol {
  int32_t callee, caller;
};

// The N states that are kept, numbered breadth first from the start, and the S symbols of the stack.
struct AssembledStates {
  Fault fault;                       // if there is a fault, the rest is incomplete
  Vector<int32_t> number;            // [Q], of each state, or kNone
  Vector<int32_t> states;            // [N]
  Vector<int32_t> symbol_of;         // [Q], the stack symbol of a state, or kNone
  Vector<CallSymbol> symbols;        // [S]
  support::Matrix<int32_t> returns;  // [S, M], the state where the text continues after each exit, or kNone
  Vector<int32_t> rule_start;        // [R], the first state of each rule
};

// Return the states of trim transitions, found from their first state on.
AssembledStates assembled_states(const DeterministicRules& rules, Budget& budget);

// The steps between states, by state and column: a class of bytes, the end of the text, or a label. A sequence is empty
// or one symbol: symbol s is sequence s + 1.
struct AssembledSteps {
  explicit AssembledSteps(Budget& budget) : edges(budget), calls(budget), ends(budget) {}

  ByteClasses byte_class{};
  std::vector<int32_t> offsets;  // [(N + 1) x (C + 1 + L) + 1]; the last state comes after the end of the text
  std::vector<int32_t> pops, pushes, targets;
  Vector<Edge> edges;    // steps that leave the stack as it is
  Vector<Edge> calls;    // steps that push: the state and the symbol
  Vector<RuleEnd> ends;  // steps that pop, and the end of the text: the state and how the rule ends
};

AssembledSteps assembled_steps(const DeterministicRules& rules, const AssembledStates& states, Budget& budget);

}  // namespace automata
