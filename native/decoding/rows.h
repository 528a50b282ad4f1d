// Rows of a machine: the classes that each row allows, ascending, and their outcomes.
//
// Rows come in families: a row allows what the rows before it in its family allow, with the same outcomes, and
// more. So an edge is stored once for all rows from its level on, where the level of a row is its place in the family.
// A node with a stack has a family, with a row for each level of free room; other rows are families by themselves.
#pragma once

#include <cstdint>
#include <span>

namespace decoding {

struct RowEdge {
  int32_t number, outcome;  // the class, and what it does
  int32_t level;            // of the first row of the family that allows it
  bool operator==(const RowEdge&) const = default;
};

struct SparseRows {
  std::span<const int32_t> offsets;  // [F + 1]
  std::span<const RowEdge> edges;    // [X], by class within a family
  std::span<const int32_t> first;    // [F + 1], the first row of each family
  int32_t num_classes;

  int32_t num_families() const { return static_cast<int32_t>(first.size()) - 1; }
  int32_t size() const { return first.back(); }
  std::span<const RowEdge> family(int32_t family) const {
    return edges.subspan(static_cast<size_t>(offsets[family]),
                         static_cast<size_t>(offsets[family + 1] - offsets[family]));
  }
};

}  // namespace decoding
