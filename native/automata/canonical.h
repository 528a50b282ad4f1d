// The last step of every construction: turns minimal transitions into tables with canonical numbers.
//
// States are numbered breadth first from the start, by ascending bytes and then labels, and bytes with equal columns
// form one class, so equal languages have equal tables. A table of at most `dense_bytes` is dense; a larger automaton
// is sparse (`automata/byte_tables.h`).
#pragma once

#include <span>

#include "automata/byte_tables.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "support/matrix.h"

namespace automata {

// Return the tables of minimal transitions over intervals of bytes and then labels.
ByteTables tabulated(const Minimal& minimal, std::span<const int32_t> interval_of, int32_t num_labels,
                     int64_t dense_bytes, Budget& budget);

// Return the tables of arcs over runs of bytes that are already minimal. All states are reachable from `start`; the
// ranges of one source do not overlap, and may come in any order.
ByteTables tabulated(int32_t start, std::span<const uint8_t> final, std::span<const Range> ranges, int64_t dense_bytes,
                     Budget& budget);

// Return the tables of an automaton without labels, started from another state; states that cannot be reached are
// dropped.
ByteTables from_state(const ByteTables& tables, int32_t state, int64_t dense_bytes, Budget& budget);

// Fill in `byte_class`, `num_classes` and `next`: blocks of bytes with equal columns in the table `[Q, P]` form one
// class.
void merge_columns(std::span<const int32_t> block_of, const support::Matrix<int32_t>& table, ByteTables& tables,
                   Budget& budget);

}  // namespace automata
