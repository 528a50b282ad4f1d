// Arcs of finite automata, as plain records. Arrays of them cross the boundary with Python as rows of int32.
#pragma once

#include <cstdint>

#include "support/budget.h"

namespace automata {

using support::Budget;
using support::Vector;

// Symbols from here up are labels; below are the bytes.
constexpr int32_t kFirstLabel = 256;
// Stands for "no state".
constexpr int32_t kNone = -1;

// An epsilon arc, or any pair of states.
struct Edge {
  int32_t source, target;
  bool operator==(const Edge&) const = default;
};

// An arc over one symbol.
struct Arc {
  int32_t source, symbol, target;
};

// An arc over one symbol whose source is implied.
struct OutArc {
  int32_t symbol, target;
  bool operator==(const OutArc&) const = default;
};

// An arc over the bytes from `low` to `high`, or over one label.
struct Range {
  int32_t source, low, high, target;
};

// An arc over a run of bytes; its source is implied by its position.
struct ByteArc {
  int32_t low, high, target;
  bool operator==(const ByteArc&) const = default;
};

// Deterministic transitions. State 0 is the start unless stated otherwise.
struct Transitions {
  explicit Transitions(Budget& budget) : final(budget), arcs(budget) {}

  Vector<uint8_t> final;  // [Q]
  Vector<Arc> arcs;

  int32_t num_states() const { return static_cast<int32_t>(final.size()); }
};

}  // namespace automata
