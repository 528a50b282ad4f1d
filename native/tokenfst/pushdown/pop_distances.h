// PopDistances: the least number of tokens from a node of the context trees until a symbol has been popped.
//
//     across    [kind, column], the least number (`tokenfst/pushdown/kinds.h`). The least solution of
//
//                   across[k, (X, child[k, X])]  = 0
//                   across[k, (X, m)]           <= 1 + the distance from the target of an edge over its pushes and X
//
//     landing   a kind of nodes reached when all symbols of a push have been popped, and the number of tokens until
//               then
//
// This is the saturation of weighted pushdown systems (Reps, Schwoon, Jha, Melski: Weighted pushdown systems and their
// application to interprocedural dataflow analysis, 2005), over kinds instead of nodes, all distances of one length
// together (`tokenfst/pushdown/saturation.h`).
//
// Rejected: a vector of integers for each node, lowered until nothing changes (fifteen seconds for SQL over 128,000
// tokens, where this takes some hundredths of a second); a cost for each symbol of the stack, which is exact only if
// no token pops two symbols.
#pragma once

#include <cstdint>
#include <span>

#include "support/matrix.h"
#include "tokenfst/distance_vectors.h"
#include "tokenfst/pushdown/kinds.h"
#include "tokenfst/pushdown/tables.h"

namespace tokenfst {

class PopDistances {
 public:
  struct Landing {
    int32_t kind, cost;
  };

  // With `by_node` every node is a separate kind.
  PopDistances(const PushdownTables& tables, Budget& budget, bool by_node = false);

  const PushdownTables& tables() const { return tables_; }
  const Kinds& kinds() const { return kinds_; }
  const PopColumns& columns() const { return columns_; }
  const Pushes& pushes() const { return pushes_; }
  // Return the fewest tokens from nodes of a kind over a symbol, kFar if there is no way; and to the end.
  int32_t across(int32_t kind, int32_t symbol, const PopColumns::Popped& popped) const {
    return kinds_.child(kind, symbol) == popped.kind ? 0 : lowest_[popped.column][push_set_of_[kind]];
  }
  int32_t to_end(int32_t kind) const {
    return kind == kinds_.of(tables_.end_state()) ? 0 : lowest_[PopColumns::kEndColumn][push_set_of_[kind]];
  }
  // Return where a push lands.
  std::span<const Landing> landings(int32_t push) const {
    return {landings_.data() + landing_offsets_[push], landings_.data() + landing_offsets_[push + 1]};
  }

  int32_t num_push_sets() const { return static_cast<int32_t>(lowest_.columns()); }
  // How far the end is from nodes of each kind with a symbol on a stack, whose distances are `vector`. `by_push_set` is
  // scratch space for one number for each push set.
  void onto(std::span<const int32_t> vector, int32_t symbol, std::span<int32_t> by_push_set,
            std::span<int32_t> found) const;

 private:
  static Kinds found_kinds(const PushdownTables& tables, bool by_node, Budget& budget);

  const PushdownTables& tables_;
  Kinds kinds_;
  Pushes pushes_;
  PopColumns columns_;
  Vector<int32_t> push_set_of_;      // [kinds]
  support::Matrix<int32_t> lowest_;  // [column, push set], the fewest tokens, at least one
  Vector<int32_t> landing_offsets_;  // [pushes + 1]
  Vector<Landing> landings_;
};

}  // namespace tokenfst
