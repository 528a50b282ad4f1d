// Combs: sparse rows overlaid in one table, so that a look-up reads one entry whatever the row.
//
// The rows of a family begin at one place, its base, and the entry for class k lies at base + k, together with the
// number of the first row that has it: an entry counts only if it names the row, or one before it in its family.
// Families are placed first fit, those with most entries first, so that small ones fill the gaps of large ones (Tarjan
// and Yao, "Storing a sparse table", CACM 22, 1979). If that would take no less memory than a table with a column for
// each class, they lie side by side.
//
// Rejected: edges by state and binary search (a dozen look-ups for one); hashing (no less memory, and collisions);
// entries of its own for each row of a family (three times as many for SQL).
#pragma once

#include <vector>

#include "decoding/layout.h"
#include "decoding/rows.h"
#include "support/budget.h"

namespace decoding {

struct Comb {
  std::vector<RowComb> rows;   // [E]
  std::vector<Entry> entries;  // -1 where there is none; with room for all classes after every base
};

Comb comb(const SparseRows& rows, support::Budget& budget);

}  // namespace decoding
