// Matrix: rows of equal width in one block; Rows: rows of any width.
#pragma once

#include <cstddef>
#include <span>

#include "support/budget.h"

namespace support {

template <class T>
class Matrix {
 public:
  Matrix(size_t rows, size_t columns, const T& value, Budget& budget)
      : columns_(columns),
        values_(product(rows, columns), value, budget) {}

  size_t rows() const { return columns_ ? values_.size() / columns_ : 0; }
  size_t columns() const { return columns_; }
  std::span<T> operator[](size_t row) { return {values_.data() + row * columns_, columns_}; }
  std::span<const T> operator[](size_t row) const { return {values_.data() + row * columns_, columns_}; }
  void add_row(const T& value) { values_.resize(values_.size() + columns_, value); }
  const Vector<T>& values() const { return values_; }

 private:
  // More than any budget allows if the product would overflow.
  static size_t product(size_t rows, size_t columns) {
    constexpr size_t kMax = size_t{1} << 48;
    return columns && rows > kMax / columns ? kMax : rows * columns;
  }

  size_t columns_;
  Vector<T> values_;
};

template <class T>
class Rows {
 public:
  explicit Rows(Budget& budget) : offsets_(1, 0, budget), values_(budget) {}

  size_t rows() const { return offsets_.size() - 1; }
  std::span<T> operator[](size_t row) {
    return {values_.data() + offsets_[row], static_cast<size_t>(offsets_[row + 1] - offsets_[row])};
  }
  void add_row(size_t columns, const T& value) {
    values_.resize(values_.size() + columns, value);
    offsets_.push_back(static_cast<int64_t>(values_.size()));
  }
  void clear() {
    offsets_.resize(1);
    values_.clear();
  }

 private:
  Vector<int64_t> offsets_;
  Vector<T> values_;
};

}  // namespace support
