// ColumnClasses: finds which columns of a table are equal, reading its rows one by one.
//
// A row splits the classes whose columns differ in it. There are at most as many splits as classes, and a row that
// splits none, as nearly all do, is read only once. The table need not exist as a whole. Classes are numbered in the
// order of their first columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "automata/arcs.h"

namespace automata {

class ColumnClasses {
 public:
  ColumnClasses(size_t num_columns, Budget& budget) : first_of_(num_columns, 0, budget), next_first_(budget) {}

  void refine(std::span<const int32_t> row) {
    const int32_t* const first = first_of_.data();
    bool is_split = false;
    for (size_t column = 0; column < row.size(); ++column) is_split |= row[column] != row[first[column]];
    if (is_split) split(row);
  }

  // Return the first column of each class, and write the class of each byte, whose column is `column_of[byte]`.
  Vector<int32_t> number(std::span<const int32_t> column_of, std::array<uint8_t, 256>& byte_class,
                         Budget& budget) const {
    Vector<int32_t> first_column(budget), class_of(first_of_.size(), kNone, budget);
    for (size_t column = 0; column < first_of_.size(); ++column) {
      if (first_of_[column] == static_cast<int32_t>(column)) {
        class_of[column] = static_cast<int32_t>(first_column.size());
        first_column.push_back(static_cast<int32_t>(column));
      } else {
        class_of[column] = class_of[first_of_[column]];
      }
    }
    for (size_t byte = 0; byte < byte_class.size(); ++byte) {
      byte_class[byte] = static_cast<uint8_t>(class_of[column_of[byte]]);
    }
    return first_column;
  }

 private:
  void split(std::span<const int32_t> row) {
    next_first_ = first_of_;
    for (size_t column = 0; column < row.size(); ++column) {
      size_t first = 0;
      while (first_of_[first] != first_of_[column] || row[first] != row[column]) ++first;
      next_first_[column] = static_cast<int32_t>(first);
    }
    std::swap(first_of_, next_first_);
  }

  Vector<int32_t> first_of_, next_first_;
};

}  // namespace automata
