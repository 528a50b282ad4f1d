#include "automata/canonical.h"

#include <algorithm>

#include "automata/arc_rows.h"
#include "automata/column_classes.h"
#include "automata/state_numbering.h"
#include "support/csr.h"

namespace automata {

namespace {

using support::Groups;
using support::Matrix;

// Return the columns of a table of blocks and labels in the order of their first bytes.
Vector<int32_t> columns_in_order(std::span<const int32_t> block_of, size_t num_columns, int32_t num_blocks,
                                 Budget& budget) {
  Vector<int32_t> columns(budget);
  Vector<uint8_t> seen(num_columns, false, budget);
  for (int32_t block : block_of.first(256)) {
    if (seen[block]) continue;
    seen[block] = true;
    columns.push_back(block);
  }
  for (size_t label = num_blocks; label < num_columns; ++label) columns.push_back(static_cast<int32_t>(label));
  return columns;
}

// Return canonical tables from the table `[Q, P + L]` of the state that each block of bytes and each label leads to.
ByteTables dense(int32_t start, std::span<const uint8_t> final, std::span<const int32_t> block_of,
                 const Matrix<int32_t>& table, int32_t num_labels, Budget& budget) {
  const auto num_states = static_cast<int32_t>(final.size());
  const auto num_blocks = static_cast<int32_t>(table.columns()) - num_labels;
  StateNumbering search(num_states, start, budget);
  const Vector<int32_t> columns = columns_in_order(block_of, table.columns(), num_blocks, budget);
  for (size_t at = 0; at < search.order.size(); ++at) {
    const auto row = table[search.order[at]];
    for (int32_t column : columns) {
      if (row[column] != kNone) search.reach(row[column]);
    }
    budget.spend(static_cast<int64_t>(columns.size()));
  }
  ByteTables found;
  found.start = std::min(start, 0), found.num_labels = num_labels;
  Matrix<int32_t> renumbered(search.order.size(), num_blocks, kNone, budget);
  const auto renumber = [&](int32_t target) { return target == kNone ? kNone : search.number[target]; };
  for (size_t state = 0; state < search.order.size(); ++state) {
    const int32_t origin = search.order[state];
    found.final.push_back(final[origin]);
    std::ranges::transform(table[origin].first(num_blocks), renumbered[state].begin(), renumber);
    for (int32_t target : table[origin].subspan(num_blocks)) found.by_label.push_back(renumber(target));
  }
  merge_columns(block_of, renumbered, found, budget);
  return found;
}

// Append an arc to those of the state being written, or extend the last of them.
void append(std::vector<ByteArc>& arcs, int32_t begin, const ByteArc& arc) {
  const bool continues =
      static_cast<int32_t>(arcs.size()) > begin && arcs.back().high + 1 == arc.low && arcs.back().target == arc.target;
  if (continues) {
    arcs.back().high = arc.high;
  } else {
    arcs.push_back(arc);
  }
}

ByteTables sparse(const Minimal& minimal, std::span<const int32_t> interval_of, int32_t num_labels, Budget& budget) {
  const int32_t num_states = minimal.automaton.num_states(), num_symbols = interval_of.back() + 1;
  const ArcRows by_state = arc_rows(num_states, minimal.automaton.arcs, budget);
  StateNumbering search(num_states, minimal.start, budget);
  for (size_t at = 0; at < search.order.size(); ++at) {
    for (const Arc& arc : by_state[search.order[at]]) search.reach(arc.target);
    budget.spend(1 + static_cast<int64_t>(by_state[search.order[at]].size()));
  }
  Vector<int32_t> first(num_symbols, 0, budget), last(num_symbols, 0, budget);
  for (int32_t byte = kFirstLabel + num_labels - 1; byte >= 0; --byte) first[interval_of[byte]] = byte;
  for (int32_t byte = 0; byte < kFirstLabel + num_labels; ++byte) last[interval_of[byte]] = byte;
  ByteTables found;
  found.start = std::min(minimal.start, 0), found.num_labels = num_labels, found.is_sparse = true;
  budget.charge(sizeof(ByteArc) * by_state.arcs.size() + (5 + 4 * static_cast<size_t>(num_labels)) * num_states);
  found.arcs.reserve(by_state.arcs.size());
  found.by_label.assign(static_cast<size_t>(num_states) * num_labels, kNone);
  for (int32_t state = 0; state < num_states; ++state) {
    const auto begin = static_cast<int32_t>(found.arcs.size());
    found.offsets.push_back(begin);
    found.final.push_back(minimal.automaton.final[search.order[state]]);
    for (const Arc& arc : by_state[search.order[state]]) {
      const int32_t low = first[arc.symbol], target = search.number[arc.target];
      if (low >= kFirstLabel) {
        found.by_label[static_cast<size_t>(state) * num_labels + low - kFirstLabel] = target;
      } else {
        append(found.arcs, begin, {low, last[arc.symbol], target});
      }
    }
    budget.spend(1 + static_cast<int64_t>(by_state[search.order[state]].size()));
  }
  found.offsets.push_back(static_cast<int32_t>(found.arcs.size()));
  found.arcs.shrink_to_fit();
  return found;
}

// Ranges by state and byte, as maximal runs.
struct ByteRows {
  std::vector<int32_t> offsets;
  std::vector<ByteArc> arcs;
};

ByteRows byte_rows(int32_t num_states, std::span<const Range> ranges, Budget& budget) {
  const Groups by_state =
      support::grouped(num_states, ranges.size(), [&](size_t r) { return ranges[r].source; }, budget);
  ByteRows rows;
  Vector<ByteArc> own(budget);
  budget.charge(sizeof(ByteArc) * ranges.size() + 4 * static_cast<size_t>(num_states));
  rows.arcs.reserve(ranges.size());
  for (int32_t state = 0; state < num_states; ++state) {
    rows.offsets.push_back(static_cast<int32_t>(rows.arcs.size()));
    own.clear();
    for (int32_t r : by_state[state]) own.push_back({ranges[r].low, ranges[r].high, ranges[r].target});
    if (!std::ranges::is_sorted(own, {}, &ByteArc::low)) std::ranges::sort(own, {}, &ByteArc::low);
    for (const ByteArc& arc : own) append(rows.arcs, rows.offsets.back(), arc);
    budget.spend(1 + static_cast<int64_t>(own.size()));
  }
  rows.offsets.push_back(static_cast<int32_t>(rows.arcs.size()));
  return rows;
}

std::span<const ByteArc> row(const ByteRows& rows, int32_t state) {
  return {rows.arcs.data() + rows.offsets[state], rows.arcs.data() + rows.offsets[state + 1]};
}

ByteTables sparse(int32_t start, std::span<const uint8_t> final, const ByteRows& rows, Budget& budget) {
  const auto num_states = static_cast<int32_t>(final.size());
  StateNumbering search(num_states, start, budget);
  ByteTables found;
  found.start = std::min(start, 0), found.is_sparse = true;
  budget.charge(sizeof(ByteArc) * rows.arcs.size() + 5 * static_cast<size_t>(num_states));
  found.arcs.reserve(rows.arcs.size());
  for (size_t at = 0; at < search.order.size(); ++at) {
    const int32_t state = search.order[at];
    found.offsets.push_back(static_cast<int32_t>(found.arcs.size()));
    found.final.push_back(final[state]);
    for (const ByteArc& arc : row(rows, state)) {
      search.reach(arc.target);
      found.arcs.push_back({arc.low, arc.high, search.number[arc.target]});
    }
    budget.spend(1 + static_cast<int64_t>(row(rows, state).size()));
  }
  found.offsets.push_back(static_cast<int32_t>(found.arcs.size()));
  return found;
}

}  // namespace

void merge_columns(std::span<const int32_t> block_of, const Matrix<int32_t>& table, ByteTables& tables,
                   Budget& budget) {
  ColumnClasses classes(table.columns(), budget);
  for (size_t state = 0; state < table.rows(); ++state) classes.refine(table[state]);
  budget.spend(static_cast<int64_t>(table.values().size()));
  const Vector<int32_t> first_block = classes.number(block_of, tables.byte_class, budget);
  tables.num_classes = static_cast<int32_t>(first_block.size());
  tables.next.resize(table.rows() * first_block.size());
  int32_t* cell = tables.next.data();
  for (size_t state = 0; state < table.rows(); ++state) {
    for (int32_t block : first_block) *cell++ = table[state][block];
  }
}

ByteTables tabulated(const Minimal& minimal, std::span<const int32_t> interval_of, int32_t num_labels,
                     int64_t dense_bytes, Budget& budget) {
  const int64_t num_states = minimal.automaton.num_states(), num_symbols = interval_of.back() + 1;
  if (4 * num_states * num_symbols > dense_bytes) return sparse(minimal, interval_of, num_labels, budget);
  Matrix<int32_t> table(num_states, num_symbols, kNone, budget);
  for (const Arc& arc : minimal.automaton.arcs) table[arc.source][arc.symbol] = arc.target;
  return dense(minimal.start, minimal.automaton.final, interval_of, table, num_labels, budget);
}

ByteTables tabulated(int32_t start, std::span<const uint8_t> final, std::span<const Range> ranges, int64_t dense_bytes,
                     Budget& budget) {
  const auto num_states = static_cast<int32_t>(final.size());
  const ByteRows by_state = byte_rows(num_states, ranges, budget);
  int32_t interval_of[256];
  cut_bytes(by_state.arcs, interval_of);
  const int64_t num_blocks = interval_of[255] + 1;
  if (4 * num_states * num_blocks > dense_bytes) return sparse(start, final, by_state, budget);
  Matrix<int32_t> table(num_states, num_blocks, kNone, budget);
  for (int32_t state = 0; state < num_states; ++state) {
    for (const ByteArc& arc : row(by_state, state)) {
      std::fill(&table[state][interval_of[arc.low]], &table[state][interval_of[arc.high]] + 1, arc.target);
    }
  }
  return dense(start, final, interval_of, table, 0, budget);
}

ByteTables from_state(const ByteTables& tables, int32_t state, int64_t dense_bytes, Budget& budget) {
  const ArcsByState arcs(tables, budget);
  StateNumbering search(tables.num_states(), state, budget);
  Vector<uint8_t> final(budget);
  Vector<Range> ranges(budget);
  for (size_t at = 0; at < search.order.size(); ++at) {
    final.push_back(tables.final[search.order[at]]);
    for (const ByteArc& arc : arcs[search.order[at]]) {
      search.reach(arc.target);
      ranges.push_back({static_cast<int32_t>(at), arc.low, arc.high, search.number[arc.target]});
    }
    budget.spend(1 + static_cast<int64_t>(arcs[search.order[at]].size()));
  }
  return tabulated(0, final, ranges, dense_bytes, budget);
}

}  // namespace automata
