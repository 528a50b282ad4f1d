// Cells: the runs that tokens of one class bring to one state of the product, with the number of tokens that each
// needs.
//
//     Cells        cells by state and then by class, the cell of every edge, and the numbers of their tokens
//     find_least   finds all numbers, backwards from the ends of texts (`tokenfst/canonical/liveness.h`)
#pragma once

#include <cstdint>
#include <span>

#include "support/csr.h"
#include "tokenfst/canonical/liveness.h"

namespace tokenfst::canonical {

struct Cell {
  int32_t state, number;
};

class Cells {
 public:
  Cells(const CanonicalEdges& edges, Budget& budget);

  int32_t size() const { return static_cast<int32_t>(cells_.size()); }
  const Cell& operator[](int32_t cell) const { return cells_[cell]; }
  int32_t of_edge(int32_t edge) const { return of_edge_[edge]; }
  // Return the tokens of a cell, and the number of tokens to go after each.
  std::span<const int32_t> tokens(int32_t cell) const { return edges_.members_of(cells_[cell].number); }
  std::span<int32_t> least(int32_t cell) { return {least_.data() + begins_[cell], least_.data() + begins_[cell + 1]}; }
  std::span<const int32_t> least(int32_t cell) const {
    return {least_.data() + begins_[cell], least_.data() + begins_[cell + 1]};
  }
  // The cells of a state are adjacent.
  int32_t first_of(int32_t state) const { return of_state_[state]; }
  int32_t end_of(int32_t state) const { return of_state_[state + 1]; }

 private:
  const CanonicalEdges& edges_;
  Vector<Cell> cells_;
  Vector<int32_t> of_edge_;   // [E]
  Vector<int32_t> of_state_;  // [M + 1]
  Vector<int64_t> begins_;    // [N + 1]
  Vector<int32_t> least_;     // by cell and token
};

// Find the numbers of all cells; return the number at the start of the text.
int32_t find_least(Cells& cells, const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs,
                   int32_t closing, Budget& budget);

}  // namespace tokenfst::canonical
