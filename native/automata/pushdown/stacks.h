// Stacks: all stacks of a run as one trie of cells.
//
//     cell         a symbol on another cell; cell 0 is the empty stack
//     kept         a permanent cell. Equal stacks are one cell, so a configuration is two integers, compared as
//                  integers. A hundred thousand different stacks take a few megabytes
//     temporary    a cell of a walk, numbered after the kept cells and dropped again. It is made without a look-up, so
//                  equal stacks may have different temporary cells
//
// A walk saves `end()`, pushes temporary cells, and drops them with `drop_from(end)`. `keep` turns the stack that it
// has reached into a kept one.
#pragma once

#include <cstdint>

#include "automata/arcs.h"
#include "support/hash.h"
#include "support/hash_index.h"

namespace automata {

class Stacks {
 public:
  struct Cell {
    int32_t symbol, below, height;
  };
  static constexpr int32_t kEmpty = 0;

  explicit Stacks(Budget& budget) : cells_(1, Cell{kNone, kEmpty, 0}, budget), index_(budget), symbols_(budget) {}

  // Cells below this number are kept, those from it up to `end` temporary.
  int32_t num_kept() const { return num_kept_; }
  int32_t end() const { return static_cast<int32_t>(cells_.size()); }
  const Cell& operator[](int32_t cell) const { return cells_[cell]; }

  // Return the kept cell with a symbol on a kept cell. Drops temporary cells.
  int32_t push(int32_t symbol, int32_t below) {
    drop_from(num_kept_);
    const uint32_t hash = hash_of(symbol, below);
    const int32_t known = index_.find(hash, [&](int32_t number) {
      const Cell& cell = cells_[number + 1];
      return cell.symbol == symbol && cell.below == below;
    });
    if (known != support::HashIndex::kAbsent) return known + 1;
    index_.reserve_one();
    cells_.push_back({symbol, below, cells_[below].height + 1});
    index_.add(hash);
    return num_kept_++;
  }
  // Return a new temporary cell with a symbol on any cell.
  int32_t push_temporary(int32_t symbol, int32_t below) {
    cells_.push_back({symbol, below, cells_[below].height + 1});
    return end() - 1;
  }
  // Drop the temporary cells from number `end` on, which is at least `num_kept`.
  void drop_from(int32_t end) noexcept { cells_.erase(cells_.begin() + end, cells_.end()); }
  // Drop all cells but the empty stack. If this throws, it must be called again before anything else.
  void clear() {
    num_kept_ = 1;
    cells_.resize(1);
    cells_.shrink_to_fit();
    index_.clear();
  }
  // Return the same stack in kept cells. Drops temporary cells.
  int32_t keep(int32_t top) {
    symbols_.clear();
    for (; top >= num_kept_; top = cells_[top].below) symbols_.push_back(cells_[top].symbol);
    for (; !symbols_.empty(); symbols_.pop_back()) top = push(symbols_.back(), top);
    drop_from(num_kept_);
    return top;
  }

 private:
  static uint32_t hash_of(int32_t symbol, int32_t below) {
    return support::finished(support::mixed(static_cast<uint64_t>(below) << 32, static_cast<uint32_t>(symbol)));
  }

  Vector<Cell> cells_;
  support::HashIndex index_;  // of kept cells, numbered from cell 1
  Vector<int32_t> symbols_;   // scratch of `keep`
  int32_t num_kept_ = 1;
};

}  // namespace automata
