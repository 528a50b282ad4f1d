#include "automata/byte_tables.h"

#include <algorithm>

#include "automata/canonical.h"
#include "automata/intervals.h"

namespace automata {

size_t ByteTables::num_bytes() const {
  return final.size() + byte_class.size() + 4 * (next.size() + offsets.size() + by_label.size()) +
         sizeof(ByteArc) * arcs.size();
}

int32_t ByteTables::step(int32_t state, uint8_t byte) const {
  if (!is_sparse) return next[static_cast<size_t>(state) * num_classes + byte_class[byte]];
  const auto own = arcs_of(state);
  const auto found = std::ranges::lower_bound(own, byte, {}, &ByteArc::high);
  return found != own.end() && found->low <= byte ? found->target : kNone;
}

int32_t ByteTables::walk(int32_t state, std::span<const uint8_t> text) const {
  for (uint8_t byte : text) {
    if (state == kNone) break;
    state = step(state, byte);
  }
  return state;
}

bool ByteTables::accepts(std::span<const uint8_t> text) const {
  const int32_t state = walk(start, text);
  return state != kNone && final[state];
}

ArcsByState::ArcsByState(const ByteTables& tables, Budget& budget) : own_offsets_(budget), own_arcs_(budget) {
  if (tables.is_sparse) {
    offsets_ = tables.offsets, arcs_ = tables.arcs;
    return;
  }
  // The last byte of each run of bytes of one class.
  int32_t last[256], num_runs = 0;
  for (int32_t byte = 0; byte < 256; ++byte) {
    if (byte == 255 || tables.byte_class[byte] != tables.byte_class[byte + 1]) last[num_runs++] = byte;
  }
  const int32_t num_states = tables.num_states();
  own_offsets_.reserve(static_cast<size_t>(num_states) + 1);
  own_offsets_.push_back(0);
  for (int32_t state = 0; state < num_states; ++state) {
    const int32_t* row = tables.next.data() + static_cast<size_t>(state) * tables.num_classes;
    int32_t low = 0, before = kNone;
    for (int32_t run = 0; run < num_runs; ++run) {
      const int32_t target = row[tables.byte_class[low]];
      if (target != kNone && target == before) {
        own_arcs_.back().high = last[run];
      } else if (target != kNone) {
        own_arcs_.push_back({low, last[run], target});
      }
      low = last[run] + 1, before = target;
    }
    budget.spend(num_runs);
    own_offsets_.push_back(static_cast<int32_t>(own_arcs_.size()));
  }
  offsets_ = own_offsets_, arcs_ = own_arcs_;
}

ByteTables densified(const ByteTables& sparse, Budget& budget) {
  int32_t interval_of[256];
  cut_bytes(sparse.arcs, interval_of);
  support::Matrix<int32_t> table(sparse.final.size(), interval_of[255] + 1, kNone, budget);
  for (int32_t state = 0; state < sparse.num_states(); ++state) {
    for (const ByteArc& arc : sparse.arcs_of(state)) {
      std::fill(&table[state][interval_of[arc.low]], &table[state][interval_of[arc.high]] + 1, arc.target);
    }
    budget.spend(interval_of[255] + 1);
  }
  ByteTables dense;
  dense.start = sparse.start, dense.num_labels = sparse.num_labels;
  dense.final = sparse.final, dense.by_label = sparse.by_label;
  merge_columns(interval_of, table, dense, budget);
  return dense;
}

}  // namespace automata
