#include "tokenfst/pushdown/tree_builder.h"

#include <algorithm>

namespace tokenfst {

void TreeBuilder::sort(const Paths& paths) {
  order_.clear();
  for (int32_t path = 0; path < paths.size(); ++path) order_.push_back(path);
  std::ranges::sort(order_, [&](int32_t left, int32_t right) {
    return std::ranges::lexicographical_compare(paths.symbols(left), paths.symbols(right));
  });
  budget_.spend(8 * int64_t{paths.size()});
}

void TreeBuilder::open(const Part& leaf, size_t level) {
  while (begins_.size() <= level) begins_.push_back(open_.size());
  open_.push_back(leaf);
}

// Turn all levels below one into trees, and these into children.
void TreeBuilder::close(std::span<const int32_t> symbols, size_t level, TreePool& pool) {
  while (begins_.size() > level + 1) {
    const size_t begin = begins_.back();
    const int32_t tree = pool.tree(std::span(open_).subspan(begin));
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(begin), open_.end());
    begins_.pop_back();
    open_.push_back(Part::child(symbols[begins_.size() - 1], tree));
  }
}

void TreeBuilder::build(const Paths& paths, TreePool& pool, Vector<Part>& parts) {
  sort(paths);
  open_.clear();
  begins_.assign(1, 0);
  std::span<const int32_t> before;
  for (int32_t path : order_) {
    const auto symbols = paths.symbols(path);
    const auto differ = std::ranges::mismatch(before, symbols);
    close(before, static_cast<size_t>(differ.in2 - symbols.begin()), pool);
    open(paths.leaf(path), symbols.size());
    before = symbols;
    budget_.spend(8 * static_cast<int64_t>(symbols.size()) + 8);
  }
  close(before, 0, pool);
  parts.insert(parts.end(), open_.begin(), open_.end());
}

void add_paths(const Trees& trees, int32_t tree, Paths& paths, Budget& budget) {
  struct DistanceLevel {
    int32_t tree;
    size_t next;  // the part to look at
  };
  Vector<DistanceLevel> levels(1, DistanceLevel{tree, 0}, budget);
  Vector<int32_t> symbols(budget);
  while (!levels.empty()) {
    DistanceLevel& level = levels.back();
    const auto parts = trees[level.tree];
    budget.spend(2 + static_cast<int64_t>(symbols.size()));
    if (level.next == parts.size()) {
      levels.pop_back();
      if (!symbols.empty()) symbols.pop_back();
      continue;
    }
    const Part& part = parts[level.next++];
    if (part.is_leaf()) {
      paths.add(symbols, part);
    } else {
      symbols.push_back(part.popped);
      levels.push_back({part.to, 0});
    }
  }
}

}  // namespace tokenfst
