// The rows of an automaton with a stack: what each node of its context trees allows by itself.
//
// A stack selects one path down a context tree, and the nodes along it act together. Each node has rows of its own, and
// a step combines those of a path: equal subtrees are one node, so there are few nodes, and there may be millions of
// paths.
//
//     row         classes, and the moves that they make: a node's own edges, those whose moves have room. The rows of
//                 a node, by room, are a family (`decoding/rows.h`); equal families are one. In an ambiguous automaton
//                 the moves of a class depend on the room, and each row is a family
//     cuts        of a node: the numbers of free stack symbols at which its row changes
//     parts       how many nodes of one path have rows, at most
//     at once     how many moves a class makes from all rows of a path, at most
//
// Rejected: a row for each path, so that a step reads one (over three million paths for SQL and 128,000 tokens, and 105
// MB for C where nodes take 7); comparing each move's room with the height at each step (masks would still need the
// rows).
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/rows.h"
#include "support/budget.h"
#include "tokenfst/pushdown/tables.h"

namespace decoding {

struct PushdownRows {
  std::vector<int32_t> rows_at, cuts_at, num_cuts;  // [N], where the rows and the cuts of a node begin
  std::vector<int32_t> node_rows;                   // rows; a node has one more than cuts
  std::vector<int32_t> cuts;                        // ascending for each node
  std::vector<int32_t> offsets, first;              // [F + 1] each, as `SparseRows`
  std::vector<RowEdge> edges;                       // [X]
  std::vector<int32_t> outcomes;                    // [O, times], the moves of each outcome, padded with M
  int32_t times;                                    // if it is 1, outcome i is move i
  int32_t parts, at_once;
};

PushdownRows pushdown_rows(const tokenfst::PushdownTables& tables, support::Budget& budget);

}  // namespace decoding
