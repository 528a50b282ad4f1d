// PopDistances: the least number of tokens from a node of the context trees until a symbol has been popped.
//
//     across    [kind, column], the least number (`tokenfst/pushdown/kinds.h`). The least solution of
//
//                   across[k, (X, child[k, X])]  = 0
//                   across[k, (X, m)]           <= 1 + the distance from the target of an edge over its pushes and X
//
// This is the saturation of weighted pushdown systems (Reps, Schwoon, Jha, Melski: Weighted pushdown systems and their
// application to interprocedural dataflow analysis, 2005), over kinds instead of nodes, all distances of one length
// together (`tokenfst/pushdown/saturation.h`).
//
// Rejected: a vector of integers for each node, lowered until nothing changes (fifteen seconds for SQL over 128,000
// tokens, where this takes a few hundredths of a second); a cost for each symbol of the stack, which is exact only if
// no token pops two symbols.
#pragma once

#include <cstdint>
#include <span>

#include "tokenfst/distance_vectors.h"
#include "tokenfst/pushdown/kinds.h"
#include "tokenfst/pushdown/tables.h"

namespace tokenfst {

class PopDistances {
 public:
  // The fewest tokens from the kinds of a push set to a column, at least one.
  struct Crossing {
    int32_t push_set, cost;
  };

  // With `by_node` every node is a separate kind.
  PopDistances(const PushdownTables& tables, Budget& budget, bool by_node = false);

  const PushdownTables& tables() const { return tables_; }
  const Kinds& kinds() const { return kinds_; }
  const PopColumns& columns() const { return columns_; }
  const Pushes& pushes() const { return pushes_; }
  // Return the fewest tokens from nodes of a kind over a symbol, kFar if there is no path; and to the end.
  int32_t across(int32_t kind, int32_t symbol, const PopColumns::Popped& popped) const {
    return kinds_.child(kind, symbol) == popped.kind ? 0 : lowest(popped.column, push_set_of_[kind]);
  }
  int32_t to_end(int32_t kind) const {
    return kind == kinds_.of(tables_.end_state()) ? 0 : lowest(PopColumns::kEndColumn, push_set_of_[kind]);
  }
  int32_t num_push_sets() const { return num_push_sets_; }
  int32_t push_set_of(int32_t kind) const { return push_set_of_[kind]; }
  // Return the push sets from which a column can be reached with a token, ascending.
  std::span<const Crossing> crossings(int32_t column) const {
    return {crossings_.data() + crossing_offsets_[column], crossings_.data() + crossing_offsets_[column + 1]};
  }
  // Find the distances from nodes of each kind with a symbol on a stack whose distances are `vector`. `by_push_set` is
  // scratch space for one number for each push set.
  void onto(std::span<const int32_t> vector, int32_t symbol, std::span<int32_t> by_push_set,
            std::span<int32_t> found) const;

 private:
  static Kinds found_kinds(const PushdownTables& tables, bool by_node, Budget& budget);
  int32_t lowest(int32_t column, int32_t push_set) const;

  const PushdownTables& tables_;
  Kinds kinds_;
  Pushes pushes_;
  PopColumns columns_;
  int32_t num_push_sets_;
  Vector<int32_t> push_set_of_;  // [kinds]
  // The columns of most push sets are few, so they are kept by column, without those that cannot be reached.
  Vector<int32_t> crossing_offsets_;  // [columns + 1]
  Vector<Crossing> crossings_;
};

}  // namespace tokenfst
