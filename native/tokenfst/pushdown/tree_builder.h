// TreeBuilder: builds trees from their paths, and lists the paths of trees.
//
//     Paths       leaves, each at the end of a path of symbols, from the top of the stack down
//     build       the parts of the tree with these leaves
//     add_paths   all paths of a tree
#pragma once

#include <cstdint>
#include <span>

#include "tokenfst/pushdown/trees.h"

namespace tokenfst {

class Paths {
 public:
  explicit Paths(Budget& budget) : symbols_(budget), ends_(budget) {}

  int32_t size() const { return static_cast<int32_t>(ends_.size()); }
  std::span<const int32_t> symbols(int32_t path) const {
    return {symbols_.data() + ends_[path].begin, static_cast<size_t>(ends_[path].length)};
  }
  const Part& leaf(int32_t path) const { return ends_[path].leaf; }

  // Add a leaf at the end of a path. The symbols must not belong to this object.
  void add(std::span<const int32_t> symbols, const Part& leaf) {
    ends_.push_back({symbols_.size(), static_cast<int32_t>(symbols.size()), leaf});
    symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  }
  void clear() {
    symbols_.clear();
    ends_.clear();
  }

 private:
  struct End {
    size_t begin;
    int32_t length;
    Part leaf;
  };
  Vector<int32_t> symbols_;
  Vector<End> ends_;
};

class TreeBuilder {
 public:
  explicit TreeBuilder(Budget& budget) : budget_(budget), order_(budget), open_(budget), begins_(budget) {}

  // Append the parts of the tree with these paths to others.
  void build(const Paths& paths, TreePool& pool, Vector<Part>& parts);

 private:
  void sort(const Paths& paths);
  void open(const Part& leaf, size_t level);
  void close(std::span<const int32_t> symbols, size_t level, TreePool& pool);

  Budget& budget_;
  Vector<int32_t> order_;
  Vector<Part> open_;      // the parts of the nodes of the current path, level by level
  Vector<size_t> begins_;  // where the parts of each level begin
};

// Add all paths of a tree.
void add_paths(const Trees& trees, int32_t tree, Paths& paths, Budget& budget);

}  // namespace tokenfst
