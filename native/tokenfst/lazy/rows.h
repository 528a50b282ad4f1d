// Rows: a table whose rows are filled in one at a time, in any order.
//
//     rows.add()       one more row, whose entries are unknown
//     rows.open()      room for the entries of a row, to be filled in; the same room until it is kept
//     rows.keep(row)   makes the open room the entries of a row
//     rows.replace(row, before, after)   puts one entry in place of another, as a row is completed
//
// Rows stay where they are, and all unknown rows are the same one. So a state that is reached but never left takes only
// a pointer, and nothing is moved as the table grows. (In one growing block, moving took an eighth of the time of a
// mask.)
#pragma once

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
        whole_(budget),
        blocks_(budget) {}

  size_t size() const { return rows_.size(); }
  size_t columns() const { return unknown_.size(); }
  std::span<const int32_t> operator[](size_t row) const { return {rows_[row], columns()}; }
  size_t num_bytes() const {
    return sizeof(int32_t) * blocks_.size() * kBlock * columns() + support::bytes_of(rows_, whole_, blocks_);
  }
  // Drop all rows, and give back their memory.
  void clear() noexcept {
    support::drop(rows_, whole_, blocks_);
    is_open_ = false;
  }
  bool is_known(size_t row) const { return rows_[row] != unknown_.data(); }
  // Return whether a row is known and has been set whole.
  bool is_whole(size_t row) const { return whole_[row]; }
  void set_whole(size_t row) { whole_[row] = true; }

  // Reserve room for one more row, so that adding it does not throw.
  void reserve_one() {
    support::reserve_more(rows_, 1);
    support::reserve_more(whole_, 1);
  }
  void add() {
    rows_.push_back(unknown_.data());
    whole_.push_back(false);
  }
  std::span<int32_t> open() {
    if (!is_open_) {
      if (blocks_.empty() || blocks_.back().size() == kBlock * columns()) {
        support::reserve_more(blocks_, 1);
        blocks_.emplace_back(rows_.get_allocator()).reserve(kBlock * columns());
      }
      blocks_.back().resize(blocks_.back().size() + columns());
      is_open_ = true;
    }
    return std::span(blocks_.back()).last(columns());
  }
  void keep(size_t row) {
    rows_[row] = open().data();
    is_open_ = false;
  }
  void replace(size_t row, int32_t before, int32_t after) {
    for (size_t column = 0; column < columns(); ++column) {
      if (rows_[row][column] == before) rows_[row][column] = after;
    }
  }

 private:
  // Rows in a block. All blocks have this size: making a larger one would delay the mask that needs it.
  static constexpr size_t kBlock = 32;

  support::Vector<int32_t> unknown_;
  support::Vector<int32_t*> rows_;
  support::Vector<uint8_t> whole_;
  support::Vector<support::Vector<int32_t>> blocks_;
  bool is_open_ = false;  // whether the last row of the last block is not kept yet
};

}  // namespace tokenfst
