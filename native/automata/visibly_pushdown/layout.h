// VisiblyPushdownLayout: a visibly pushdown grammar as one nondeterministic automaton, whose chains and copies are not
// written out.
//
//     chain      a literal text between two states: text[text_offsets[i]] up to text[text_offsets[i + 1]]
//     fragment   an automaton from its state 0 to its state 1, laid out once; no arc leads into 0 or out of 1
//     copy       a fragment between two states
//     counter    a fragment between two states, some of whose states are counted whenever they are entered
//     call       a state where a rule is called; after exit i of the rule the text continues at
//                targets[first_target + i], or not at all if that is kNone
//     guarded    an arc that reads nothing, where the flags of the rule allow it: each call of a rule has flags of its
//                own, of which none is set at first. A state with guarded arcs has no others
//     detour     how many tokens more distances count for a text that passes through a state, because the shortest path
//                from there may be forbidden by something that the rules do not say
//     prepared   a rule that is one deterministic fragment: an epsilon arc between its start and its only end stands
//                for it, until the states of the fragment replace it at the end
//
// States are numbered across all rules, after the first two, which lead to the starts of all rules and are reached from
// their ends. Exits are numbered across all rules as well. Symbols of arcs are bytes and, from kFirstLabel up, labels.
// (`automata/visibly_pushdown/grammar.py` defines the grammars, `automata/visibly_pushdown/layout.py` makes the
// layout.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/arcs.h"
#include "automata/fixpoint.h"
#include "automata/visibly_pushdown/fragments.h"

namespace automata {

// The state that leads to the start of each rule, and the one that is reached from each end.
constexpr int32_t kFirstState = 0, kLastState = 1;
// The greatest number of counted states from a state on, if there is no bound.
constexpr int32_t kEndless = INT32_MAX;

struct Copy {
  int32_t fragment, source, target;
};

struct Call {
  int32_t source, rule, first_target;
};

// A detour that is so long that distances count no path through the state.
constexpr int32_t kMaxDetour = 1 << 29;

struct Detour {
  int32_t state, tokens;
};

struct Prepared {
  int32_t rule, fragment;
};

struct Counter {
  int32_t entered;          // where it begins; no other arc leaves this state
  int32_t end;              // the state after it
  int32_t fragment, entry;  // the fragment that is read, and the state where it is entered
  int32_t low, high;        // the least and greatest number of counted states entered; kNone for no bound
  int32_t first_number;     // where the numbers of its fragment begin
};

// A state of the fragment of a counter.
struct CountedState {
  int32_t is_counted;   // whether entering it counts, 0 or 1
  int32_t least, most;  // how many counted states are entered from here on; kEndless for no bound
};

// Leads to the condition `high` where a flag is set, and to `low` where it is not.
struct Decision {
  int32_t flag, low, high;
};
constexpr int32_t kFalse = 0, kTrue = 1;

struct GuardedArc {
  int32_t source, target;
  int32_t sets;       // the flag that it sets, which is not set before; kNone for none
  int32_t condition;  // kFalse, kTrue, or 2 + the number of a decision
};

struct VisiblyPushdownLayout {
  int32_t num_states = 0;  // without those within chains and copies
  int32_t num_labels = 0;
  std::vector<int32_t> starts;      // [R], where each rule begins; rule 0 is the whole text
  std::vector<int32_t> first_exit;  // [R + 1]
  std::vector<uint8_t> text;
  std::vector<int32_t> text_offsets;
  std::vector<Edge> chains;
  std::vector<FragmentPointer> fragments;  // [P]
  std::vector<Copy> copies;
  std::vector<Edge> epsilon;
  std::vector<Call> calls;
  std::vector<int32_t> targets;
  std::vector<RuleEnd> ends;
  std::vector<Detour> detours;
  std::vector<Prepared> prepared;
  std::vector<Counter> counters;
  std::vector<CountedState> numbers;
  std::vector<GuardedArc> guarded;
  std::vector<Decision> decisions;  // those that a decision leads to come before it

  int32_t num_rules() const { return static_cast<int32_t>(starts.size()); }
  int32_t num_exits() const { return first_exit.back(); }
  int32_t num_fragments() const { return static_cast<int32_t>(fragments.size()); }
  std::span<const uint8_t> text_of(size_t chain) const {
    return {text.data() + text_offsets[chain], text.data() + text_offsets[chain + 1]};
  }
  // Return where a call continues, by exit of its rule.
  std::span<const int32_t> targets_of(const Call& call) const {
    return {targets.data() + call.first_target, static_cast<size_t>(first_exit[call.rule + 1] - first_exit[call.rule])};
  }
};

// Return about how much memory a layout takes, without its fragments.
size_t num_bytes(const VisiblyPushdownLayout& layout);

// Return the number of arcs of chains and copies, were they written out.
int64_t num_written_arcs(const VisiblyPushdownLayout& layout);

// Return whether some chain or some fragment reads a byte.
bool reads(const VisiblyPushdownLayout& layout, uint8_t byte);

// List the returns of all calls, without exits after which the text cannot continue.
Vector<Return> returns_of(const VisiblyPushdownLayout& layout, Budget& budget);

// All arcs, with the states within chains and copies numbered after all others, and room for some more arcs.
// Counters are not written.
struct WrittenLayout {
  int32_t num_states;
  Vector<Range> arcs;
  Vector<Edge> epsilon;
};
WrittenLayout written(const VisiblyPushdownLayout& layout, size_t num_more_arcs, Budget& budget);

}  // namespace automata
