// Kinds, pushes, push sets and columns: the classes of equivalent nodes and moves over which pop distances are
// computed.
//
//     kind       bisimilar nodes: nodes with the same pushes, and with children of the same kinds for the same
//                symbols. They are equally far from the end, whatever stack lies below
//     push       the result of a move: the kind of its target, and the symbols that it pushes
//     push set   the pushes of a kind; kinds with equal push sets share their distances
//     column     (X, m): symbol X is popped and a node of kind m is reached; or the end of the sequence, which needs
//                no symbol below. Columns with the same kinds above them are one
//
// Context trees have a node for each depth, so there are far fewer kinds than nodes: SQL over 128,000 tokens has 6,588
// nodes and 1,979 kinds, and 6,240 columns of which 196 differ.
#pragma once

#include <cstdint>
#include <span>

#include "support/value_interner.h"
#include "tokenfst/pushdown/tables.h"
#include "tokenfst/pushdown/trees.h"

namespace tokenfst {

class PushSets;

class Kinds {
 public:
  // Make every node a separate kind.
  explicit Kinds(const PushdownTables& tables, Budget& budget);
  // Make indistinguishable nodes one kind; `sets` are the push sets of all nodes.
  Kinds(const PushdownTables& tables, const PushSets& sets, Budget& budget);

  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t of(int32_t node) const { return kind_of_[node]; }
  // Return one node of each kind.
  std::span<const int32_t> nodes() const { return nodes_; }
  // Return the kinds from which a symbol can be popped, ascending, each with the kind that this leads to.
  struct Child {
    int32_t kind, child;
  };
  std::span<const Child> children(int32_t symbol) const {
    return {children_.data() + offsets_[symbol], children_.data() + offsets_[symbol + 1]};
  }
  // Return the kind with one more symbol popped, or kDead.
  int32_t child(int32_t kind, int32_t symbol) const;

 private:
  void find_children(const PushdownTables& tables, Budget& budget);

  Vector<int32_t> kind_of_;  // [N]
  Vector<int32_t> nodes_;    // [kinds]
  Vector<int32_t> offsets_;  // [S + 1]
  Vector<Child> children_;   // by symbol
};

// Pushes without duplicates: a kind, or another push with one more symbol under it. So each part of a push of several
// symbols is a push as well.
class Pushes {
 public:
  static constexpr int32_t kNoSymbol = Part::kNoSymbol;

  Pushes(const PushdownTables& tables, const Kinds& kinds, Budget& budget);

  int32_t size() const { return longer_.size(); }
  const LongerSequence& operator[](int32_t push) const { return longer_[push]; }
  int32_t of_move(int32_t move) const { return of_move_[move]; }

 private:
  support::ValueInterner<LongerSequence> longer_;  // `before` is a push, or ~kind with kNoSymbol if nothing is pushed
  Vector<int32_t> of_move_;                        // [M]
};

class PushSets {
 public:
  // The push sets of some nodes.
  PushSets(const PushdownTables& tables, const Pushes& pushes, std::span<const int32_t> nodes, Budget& budget);

  int32_t size() const { return num_push_sets_; }
  int32_t of(size_t place) const { return push_set_of_[place]; }
  std::span<const int32_t> with(int32_t push) const {
    return {with_push_.data() + offsets_[push], with_push_.data() + offsets_[push + 1]};
  }

 private:
  int32_t num_push_sets_ = 0;
  Vector<int32_t> push_set_of_;  // [nodes]
  Vector<int32_t> offsets_;      // [pushes + 1]
  Vector<int32_t> with_push_;
};

class PopColumns {
 public:
  // Popping the symbol leads to nodes of a kind.
  struct Popped {
    int32_t column, kind;
  };
  static constexpr int32_t kEndColumn = 0;

  PopColumns(const Kinds& kinds, int32_t num_symbols, Budget& budget);

  int32_t size() const { return size_; }
  // Return the columns of a symbol, ascending.
  std::span<const Popped> of(int32_t symbol) const {
    return {popped_.data() + offsets_[symbol], popped_.data() + offsets_[symbol + 1]};
  }

 private:
  int32_t size_ = 0;
  Vector<int32_t> offsets_;
  Vector<Popped> popped_;
};

}  // namespace tokenfst
