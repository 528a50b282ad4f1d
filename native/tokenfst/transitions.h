// The transitions of a token automaton: state and token class to state.
//
//     DenseTransitions     a table [Q, K]: one look-up, for all but large automata
//     SparseTransitions    compressed rows, classes ascending: memory that grows with the edges instead of Q x K
//     GuardedTransitions   edges with guards over control states and a register, for large bounds
//
// Outside of this file a state with a register is one number, register x Q + control state, where a control state is a
// state without its register value. The last of the Q control states is the one after the end, and only occurs with the
// greatest value R, so that the end is the greatest state, as it is in every automaton. The guards of a class in one
// control state do not overlap. Without a register, control states are the states.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tokenfst/token_classes.h"

namespace tokenfst {

// A class that a state allows, and its target.
struct Successor {
  int32_t number;
  int64_t target;
};

struct DenseTransitions {
  int32_t num_control_states, num_classes;
  std::vector<int32_t> next;  // [Q, K], kDead for none

  int64_t num_states() const { return num_control_states; }
  int64_t target(int64_t state, int32_t number) const {
    return next[static_cast<size_t>(state) * num_classes + number];
  }
  // Append the successors of a state, by class.
  void successors(int64_t state, std::vector<Successor>& found) const;
  // Return a state with the same mask.
  int64_t alike(int64_t state) const { return state; }
  size_t num_bytes() const { return 4 * next.size(); }
};

struct SparseTransitions {
  struct Edge {
    int32_t number, target;
  };
  int32_t num_control_states, num_classes;
  std::vector<int64_t> offsets;  // [Q + 1]
  std::vector<Edge> edges;       // by class within a state

  int64_t num_states() const { return num_control_states; }
  int64_t target(int64_t state, int32_t number) const;
  void successors(int64_t state, std::vector<Successor>& found) const;
  int64_t alike(int64_t state) const { return state; }
  size_t num_bytes() const { return 8 * (offsets.size() + edges.size()); }
};

struct GuardedTransitions {
  struct Edge {
    int32_t number;     // the class
    int32_t low, high;  // of the register
    int32_t target;     // a control state
    int32_t action;     // n >= 0 adds n to the register, ~n sets it to n
  };
  int32_t num_control_states, num_classes, max_register;
  std::vector<int64_t> offsets;      // [Q + 1]
  std::vector<Edge> edges;           // by class and register value within a control state
  std::vector<int64_t> cut_offsets;  // [Q + 1]
  std::vector<int32_t> cuts;         // the register values of each control state at which the set of open edges changes

  // Fill in the cuts.
  void find_cuts();
  int64_t num_states() const {
    return static_cast<int64_t>(num_control_states) * (static_cast<int64_t>(max_register) + 1);
  }
  int64_t target(int64_t state, int32_t number) const;
  void successors(int64_t state, std::vector<Successor>& found) const;
  int64_t alike(int64_t state) const;
  size_t num_bytes() const { return 8 * offsets.size() + sizeof(Edge) * edges.size(); }

  std::span<const Edge> edges_of(int64_t control_state) const {
    return {edges.data() + offsets[control_state], edges.data() + offsets[control_state + 1]};
  }

 private:
  int64_t after(const Edge& edge, int64_t value) const {
    return (edge.action >= 0 ? value + edge.action : ~edge.action) * num_control_states + edge.target;
  }
};

using Transitions = std::variant<DenseTransitions, SparseTransitions, GuardedTransitions>;

// Return the transitions for edges by class; each class has at most one edge from each state. A dense table of at most
// `dense_bytes` is used whatever its density, and a larger one if it is the smaller form.
Transitions make_transitions(int32_t num_states, int32_t num_classes, std::span<const TokenEdge> edges,
                             int64_t dense_bytes, Budget& budget);

}  // namespace tokenfst
