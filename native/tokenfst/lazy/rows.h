// Rows: a table whose rows are filled in one at a time, in any order.
//
//     rows.add()       one more row, whose entries are unknown
//     rows.open()      room for a row, to be filled in; the same until it is kept
//     rows.keep(row)   makes what is open the entries of a row
//
// Rows stay where they are, and those that are unknown share one. So a state that is met but never left takes a
// pointer, and nothing is moved as the table grows: in one block, moving took an eighth of the time of a mask.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/budget.h"

namespace tokenfst {

class Rows {
 public:
  Rows(size_t columns, int32_t unknown, support::Budget& budget)
      : unknown_(columns, unknown, budget),
        rows_(budget),
        blocks_(budget) {}

  size_t size() const { return rows_.size(); }
  size_t columns() const { return unknown_.size(); }
  std::span<const int32_t> operator[](size_t row) const { return {rows_[row], columns()}; }
  bool is_known(size_t row) const { return rows_[row] != unknown_.data(); }
  size_t num_bytes() const { return sizeof(int32_t*) * rows_.size() + sizeof(int32_t) * columns() * num_rows_; }

  // Reserve room for one more row, so that adding it does not throw.
  void reserve_one() { support::reserve_more(rows_, 1); }
  void add() { rows_.push_back(unknown_.data()); }
  std::span<int32_t> open() {
    if (free_ == 0) {
      const size_t rows = std::clamp(num_rows_, kFewest, kMost);
      blocks_.emplace_back(rows * columns(), 0, rows_.get_allocator());
      free_ = rows;
      num_rows_ += rows;
    }
    auto& block = blocks_.back();
    return {block.data() + block.size() - free_ * columns(), columns()};
  }
  void keep(size_t row) {
    rows_[row] = open().data();
    --free_;
  }

 private:
  // Rows in a block: as many as there are already, within these bounds.
  static constexpr size_t kFewest = 16, kMost = 1 << 10;

  support::Vector<int32_t> unknown_;
  support::Vector<const int32_t*> rows_;
  support::Vector<support::Vector<int32_t>> blocks_;
  size_t free_ = 0, num_rows_ = 0;
};

}  // namespace tokenfst
