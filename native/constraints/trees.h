// SpellingTree: the spellings of a few characters, byte by byte, each with its target state.
//
// A character is written literally, by a short escape, or as digits (`constraints/spelling.h`). The automaton of all
// spellings determines which of these exist, so a node of a tree has a state of that automaton, its *base*. The tree
// has hexadecimal digits in lower case; the upper-case ones lead to the same states.
//
//     AllSpellings   the automaton of all spellings
//     ByteEdge       a byte and its target state
//     SpellingTree   nodes, with edges by ascending bytes; characters begin at node 0
#pragma once

#include <array>
#include <span>

#include "automata/byte_tables.h"
#include "constraints/runs.h"

namespace constraints {

class AllSpellings {
 public:
  // Throw invalid_argument for an automaton that does not begin with a quote.
  AllSpellings(const automata::ByteTables& tables, Budget& budget);

  const automata::ByteTables& tables() const { return tables_; }
  // Return the state between two characters.
  int32_t between() const { return between_; }
  int32_t step(int32_t state, uint8_t byte) const { return next_[state][byte]; }
  std::span<const automata::ByteArc> arcs(int32_t state) const { return arcs_[state]; }

 private:
  const automata::ByteTables& tables_;
  const automata::ArcsByState arcs_;
  Vector<std::array<int32_t, 256>> next_;
  int32_t between_;
};

struct ByteEdge {
  int32_t byte, target;
  bool operator==(const ByteEdge&) const = default;
};

class SpellingTree {
 public:
  SpellingTree(const AllSpellings& every, Budget& budget)
      : every_(every),
        nodes_(budget),
        edges_(budget),
        budget_(budget) {}

  // Begin a new tree, which replaces the current one.
  void clear();
  // Add all spellings of a character, which lead to `state`.
  void add_character(int32_t code, int32_t state);
  // Add a byte to an empty tree.
  void add_byte(uint8_t byte, int32_t state);

  // Nodes come after those that lead to them.
  int32_t num_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t base(int32_t node) const { return nodes_[node].base; }
  // Store the state that a node has become.
  void enter(int32_t node, int32_t state) { nodes_[node].state = state; }
  // Call `each` for the edges of a node, by ascending bytes; all nodes after it must have been entered.
  template <class Each>
  void edges_of(int32_t node, Each each) const;

 private:
  struct Node {
    int32_t base, first_edge, state;
  };
  struct Edge {
    int32_t byte;
    int32_t node, state;  // its target, one of the two
    int32_t next;         // of the node
  };
  bool is_spelling(std::span<const uint8_t> spelling) const;
  void add(std::span<const uint8_t> spelling, int32_t state);
  int32_t edge_for(int32_t node, uint8_t byte);

  const AllSpellings& every_;
  Vector<Node> nodes_;
  Vector<Edge> edges_;
  Budget& budget_;
};

template <class Each>
void SpellingTree::edges_of(int32_t node, Each each) const {
  constexpr int32_t kCapitals = 0x41, kFirstDigit = 0x61, kLastDigit = 0x66, kToCapital = 0x20;
  const int32_t base = nodes_[node].base;
  const auto for_edges = [&](auto take) {
    for (int32_t at = nodes_[node].first_edge; at != kNone; at = edges_[at].next) {
      const Edge& edge = edges_[at];
      take(edge.byte, edge.node == kNone ? edge.state : nodes_[edge.node].state);
    }
  };
  for_edges([&](int32_t byte, int32_t target) {
    if (byte < kCapitals) each(ByteEdge{byte, target});
  });
  for_edges([&](int32_t byte, int32_t target) {
    if (byte < kFirstDigit || byte > kLastDigit || base == every_.between()) return;
    const int32_t capital = byte - kToCapital;
    if (every_.step(base, static_cast<uint8_t>(capital)) != kNone) each(ByteEdge{capital, target});
  });
  for_edges([&](int32_t byte, int32_t target) {
    if (byte >= kCapitals) each(ByteEdge{byte, target});
  });
}

}  // namespace constraints
