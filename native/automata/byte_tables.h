// ByteTables: the tables of a deterministic automaton over bytes and labels.
//
// Small automata have a dense table, the fastest form to step through:
//
//     byte_class  [256]    bytes that no state distinguishes share a class
//     next        [Q, C]   the state that a class leads to, or kNone
//
// Where most entries of a dense table would be kNone, as for a list of a million names, the automaton is sparse: it has
// arcs over runs of bytes, in ascending order within a state, 12 bytes each.
//
//     offsets     [Q + 1]  where the arcs of each state begin
//     arcs        [A]
//
// Both forms have
//
//     final       [Q]      whether a text may end here
//     by_label    [Q, L]   the state that a label leads to, or kNone
//
// Minimal automata are numbered breadth first, by ascending bytes and then labels, so equal languages have equal tables
// (`automata/canonical.h`).
//
// Rejected: arcs over byte classes instead of runs (a complement, `[^"]`, or an automaton with one child per state has
// few runs but dozens of classes); hashing state and byte (as fast as binary search, at four times the memory).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/arcs.h"

namespace automata {

using ByteClasses = std::array<uint8_t, 256>;

struct ByteTables {
  int32_t start = kNone;
  int32_t num_labels = 0;
  bool is_sparse = false;
  std::vector<uint8_t> final;
  ByteClasses byte_class{};
  int32_t num_classes = 0;
  std::vector<int32_t> next;
  std::vector<int32_t> offsets;
  std::vector<ByteArc> arcs;
  std::vector<int32_t> by_label;

  int32_t num_states() const { return static_cast<int32_t>(final.size()); }
  std::span<const ByteArc> arcs_of(int32_t state) const {
    return {arcs.data() + offsets[state], arcs.data() + offsets[state + 1]};
  }
  int32_t label_target(int32_t state, int32_t label) const {
    return by_label[static_cast<size_t>(state) * num_labels + label];
  }
  size_t num_bytes() const;

  // Return the state that a byte leads to, or kNone.
  int32_t step(int32_t state, uint8_t byte) const;
  // Return the state that a text leads to, or kNone.
  int32_t walk(int32_t state, std::span<const uint8_t> text) const;
  bool accepts(std::span<const uint8_t> text) const;
};

// Arcs by state, as maximal runs. Those of a sparse automaton are used in place, without a copy.
class ArcsByState {
 public:
  ArcsByState(const ByteTables& tables, Budget& budget);

  std::span<const ByteArc> operator[](int32_t state) const {
    return {arcs_.data() + offsets_[state], arcs_.data() + offsets_[state + 1]};
  }
  std::span<const int32_t> offsets() const { return offsets_; }
  std::span<const ByteArc> all() const { return arcs_; }

 private:
  Vector<int32_t> own_offsets_;
  Vector<ByteArc> own_arcs_;
  std::span<const int32_t> offsets_;
  std::span<const ByteArc> arcs_;
};

// Return the dense form: the same states, with a table of classes. Throw LimitExceeded if it takes too much memory.
ByteTables densified(const ByteTables& sparse, Budget& budget);

}  // namespace automata
