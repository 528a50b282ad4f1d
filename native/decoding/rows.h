// Rows of a machine: the classes that each row allows, ascending, and their outcomes.
#pragma once

#include <cstdint>
#include <span>

namespace decoding {

struct SparseRows {
  std::span<const int64_t> offsets;   // [E + 1]
  std::span<const int64_t> numbers;   // [X], classes
  std::span<const int64_t> outcomes;  // [X]
  int32_t num_classes;

  int32_t size() const { return static_cast<int32_t>(offsets.size()) - 1; }
  std::span<const int64_t> classes(int32_t row) const {
    return numbers.subspan(static_cast<size_t>(offsets[row]), static_cast<size_t>(offsets[row + 1] - offsets[row]));
  }
};

}  // namespace decoding
