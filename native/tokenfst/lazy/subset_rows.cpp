// The rows of a SubsetMachine: where the bytes of each class lead from a set of states.
#include <algorithm>
#include <bit>
#include <cstring>

#include "tokenfst/lazy/subsets.h"

namespace tokenfst {

using automata::kNone;

namespace {

// A row is copied from another one if the two may differ in at most this many classes.
constexpr int64_t kMaxDiffering = 8;
// With at least `kManyArcs` arcs, those over a class are looked for `kAtOnce` at a time, as many as a word has bytes.
constexpr size_t kManyArcs = 64, kAtOnce = sizeof(uint64_t);

}  // namespace

// Return a member of a larger set that is also a set by itself whose row is known, kNone if there is none. Of several,
// take the one with the greatest number, which is likeliest to loop over text: states inside copies come last.
int32_t SubsetMachine::member_with_row(int32_t set) const {
  const std::span<const int32_t> members = sets_[set];
  if (members.size() < 2) return kNone;
  for (size_t at = members.size(); at-- > 0;) {
    const int32_t state = members[at];
    if (!single_.has(state) || single_[state] == kDead) continue;
    if (sets_[single_[state]].size() == 1 && table_.is_known(single_[state])) return members[at];
  }
  return kNone;
}

void SubsetMachine::expand(int32_t set) {
  arcs_.clear();
  const int32_t known = member_with_row(set);
  // Reading arcs may make blocks, but no sets, so the span stays valid.
  for (int32_t state : sets_[set]) {
    if (state != known) nfa_.arcs_of(state, arcs_);
  }
  const size_t num_others = arcs_.size();
  int64_t width = 0;
  for (const ClassArc& arc : arcs_) width += arc.high - arc.low + 1;
  if (known != kNone) nfa_.arcs_of(known, arcs_);
  budget_.spend(16 + 8 * static_cast<int64_t>(arcs_.size()));
  const std::span<int32_t> row = table_.open();
  if (known != kNone && width <= kMaxDiffering && num_others < arcs_.size() - num_others) {
    fill_from(single_[known], num_others, row);
  } else if (arcs_.size() >= kManyArcs) {
    fill_from_many(row);
  } else if (std::ranges::adjacent_find(arcs_, [](const ClassArc& one, const ClassArc& next) {
               return one.high >= next.low;
             }) == arcs_.end()) {
    fill_apart(row);
  } else {
    fill_row(row);
  }
  table_.keep(set);
}

// Fill in the row from ascending arcs of which no two read the same class.
void SubsetMachine::fill_apart(std::span<int32_t> row) {
  std::ranges::fill(row, kDead);
  for (const ClassArc& arc : arcs_) {
    std::fill(row.begin() + arc.low, row.begin() + arc.high + 1, deferred_entry(arc.target));
  }
}

// Fill in the row from that of the set `part`, the arcs of whose state come last: the two rows differ only in the
// classes of the other arcs. In an object, each listed name is an alternative to a loop over all other names, and
// differs from it in one byte.
void SubsetMachine::fill_from(int32_t part, size_t num_others, std::span<int32_t> row) {
  std::ranges::copy(table_[part], row.begin());
  for (size_t arc = 0; arc < num_others; ++arc) {
    for (int32_t column = arcs_[arc].low; column <= arcs_[arc].high; ++column) row[column] = entry_over(column);
  }
}

// Return the entry for all arcs over a class.
int32_t SubsetMachine::entry_over(int32_t column) {
  begin_gathering();
  for (const ClassArc& arc : arcs_) {
    if (arc.low <= column && column <= arc.high) gather(arc.target);
  }
  return entries_[closed()];
}

// Fill in the row from many arcs: their bounds are written side by side, so that the arcs over a class are found
// several at a time.
void SubsetMachine::fill_from_many(std::span<int32_t> row) {
  const size_t size = (arcs_.size() + kAtOnce - 1) / kAtOnce * kAtOnce;
  lows_.assign(size, 0xFF), highs_.assign(size, 0), over_.resize(size);
  differs_.assign(num_classes() + 1, false);
  for (size_t arc = 0; arc < arcs_.size(); ++arc) {
    lows_[arc] = static_cast<uint8_t>(arcs_[arc].low), highs_[arc] = static_cast<uint8_t>(arcs_[arc].high);
    differs_[arcs_[arc].low] = differs_[arcs_[arc].high + 1] = true;
  }
  int32_t entry = kDead;
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (differs_[column]) {
      begin_gathering();
      gather_over(static_cast<uint8_t>(column));
      entry = gathered_.empty() ? kDead : gathered_.size() == 1 ? deferred_entry(gathered_[0]) : entries_[closed()];
    }
    row[column] = entry;
  }
}

// Gather the targets of the arcs over a class.
void SubsetMachine::gather_over(uint8_t column) {
  const uint8_t *const lows = lows_.data(), *const highs = highs_.data();
  uint8_t* const over = over_.data();
  const size_t size = over_.size();
  for (size_t arc = 0; arc < size; ++arc) over[arc] = (lows[arc] <= column) & (column <= highs[arc]);
  for (size_t first = 0; first < size; first += kAtOnce) {
    uint64_t some;
    std::memcpy(&some, over + first, kAtOnce);
    for (; some != 0; some &= some - 1) {
      const size_t place = std::countr_zero(some) / 8;
      const bool is_first_lowest = std::endian::native == std::endian::little;
      gather(arcs_[first + (is_first_lowest ? place : kAtOnce - 1 - place)].target);
    }
  }
}

// Fill in the row from the arcs: a class whose arcs all lead to one state leads to the set of that single state, and
// neighbouring classes lead to the same set if no arc begins or ends between them.
void SubsetMachine::fill_row(std::span<int32_t> row) {
  std::ranges::fill(row, kDead);
  differs_.assign(num_classes() + 1, false);
  for (const ClassArc& arc : arcs_) {
    differs_[arc.low] = differs_[arc.high + 1] = true;
    for (int32_t column = arc.low; column <= arc.high; ++column) {
      row[column] = row[column] == kDead || row[column] == arc.target ? arc.target : kMixed;
    }
  }
  for (int32_t column = 0; column < num_classes(); ++column) {
    if (row[column] == kDead) continue;
    if (!differs_[column]) {
      row[column] = row[column - 1];
    } else if (row[column] != kMixed) {
      row[column] = deferred_entry(row[column]);
    } else {
      row[column] = entry_over(column);
    }
  }
}

}  // namespace tokenfst
