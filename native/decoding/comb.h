// Combs: sparse rows overlaid in one table, so that a look-up reads one entry whatever the row.
//
// Row r begins at base[r], and its entry for class k lies at base[r] + k, together with the row's number: an entry
// counts only if it names the row. Rows are placed first fit, those with most entries first, so that small rows fill
// the gaps of large ones (Tarjan and Yao, "Storing a sparse table", CACM 22, 1979). If that would take no less memory
// than a table with a column for each class, rows lie side by side.
//
// Rejected: edges by state and binary search (a dozen look-ups for one); hashing (no less memory, and collisions).
#pragma once

#include <vector>

#include "decoding/layout.h"
#include "decoding/rows.h"
#include "support/budget.h"

namespace decoding {

struct Comb {
  std::vector<int32_t> base;   // [E]
  std::vector<Entry> entries;  // -1 where there is none; with room for all classes after every base
};

Comb comb(const SparseRows& rows, support::Budget& budget);

}  // namespace decoding
