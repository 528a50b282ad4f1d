// Saturation: computes pop distances in order of length, 64 columns at a time.
//
// Every edge costs one token and nothing else costs any, so distances of d tokens follow from shorter ones:
//
//     fresh[d]     push sets, and the columns that are d tokens away from their kinds, as bits
//     landed[d]    pushes, and the kinds where they land after d tokens
//     way[push]    the columns crossed from where a push lands, as bits
//
//     landed[c] (push, kind) and fresh[d - c] (push set of kind)    after d tokens: columns of way[push], and landings
//                                                                   of the pushes with one more symbol under it
//     new columns of way[push] after d tokens                       fresh[d + 1] in all push sets with the push
//
// The columns that are fresh after no token are the children of the kind itself. The end of the sequence is a column
// of every part of a push, since it needs no symbol below.
#pragma once

#include <cstdint>
#include <span>

#include "support/csr.h"
#include "tokenfst/pushdown/pop_distances.h"

namespace tokenfst {

class Saturation {
 public:
  // `end` is the kind of the state after the end.
  Saturation(const Kinds& kinds, int32_t end, const PopColumns& columns, const Pushes& pushes, const PushSets& sets,
             int32_t num_symbols, Budget& budget);

  void run();

  support::Matrix<int32_t>& lowest() { return lowest_; }  // [column, push set]
  // Call `take(push, landing)` for each landing, those of one push in order of their costs.
  template <class Take>
  void for_each_landing(Take take) const {
    for (int32_t distance = 0; distance < static_cast<int32_t>(levels_.size()); ++distance) {
      for (const Landed& landed : levels_[distance].landed)
        take(landed.push, PopDistances::Landing{landed.kind, distance});
    }
  }

 private:
  using Bits = support::Matrix<uint64_t>;

  struct Landed {
    int32_t push, kind;
  };
  struct DistanceLevel {
    explicit DistanceLevel(Budget& budget) : sets(budget), landed(budget) {}
    Vector<int32_t> sets;
    size_t first_bits = 0;  // where the bits of the sets begin in `fresh_`
    Vector<Landed> landed;
  };
  // PopColumns of a symbol that share a word of bits.
  struct ColumnWord {
    int32_t word;
    uint64_t mask;
    int32_t first;  // of the symbol's columns there
  };

  void find_words();
  void find_pushes();
  void find_zeros();

  DistanceLevel& level(int32_t distance);
  void land_at_targets();
  int64_t land(int32_t push, std::span<const uint64_t> columns, int32_t distance);
  // Combine landings and fresh columns that are `distance` tokens together.
  void meet(int32_t distance);
  void go_on(const Landed& landed, std::span<const uint64_t> columns, int32_t distance);
  void change(int32_t push);
  void end(int32_t push);
  // Make the new columns of ways fresh after one more token.
  void add_fresh(int32_t distance);
  void add_set(int32_t set, int32_t distance);

  const Kinds& kinds_;
  const int32_t end_;
  const PopColumns& columns_;
  const Pushes& pushes_;
  const PushSets& push_sets_;
  const int32_t num_symbols_;
  Budget& budget_;

  support::Groups longer_;          // of a push, those with one more symbol under it
  Vector<uint8_t> is_left_behind_;  // [pushes], whether some move pushes it
  Vector<int32_t> word_offsets_;    // [S + 1]
  Vector<ColumnWord> column_words_;
  Bits zeros_;  // [kinds], the columns of their children
  support::Matrix<int32_t> lowest_;

  Vector<DistanceLevel> levels_;  // [distance]
  Vector<uint64_t> fresh_;
  Vector<int32_t> block_of_set_;    // of the push sets that are fresh at the current distance, kDead for the others
  Vector<int64_t> landed_offsets_;  // [pushes]
  Vector<uint64_t> has_landed_;     // of each push, the columns of its last symbol that it has crossed, word by word
  Vector<uint8_t> has_ended_;
  Bits known_, new_known_;  // [push sets], the columns that have been fresh
  Bits way_, new_way_;      // [pushes]
  Vector<int32_t> changed_pushes_, changed_sets_, ending_;
  Vector<uint8_t> is_changed_, is_set_changed_;
  int32_t last_fresh_ = 0, last_landed_ = 0;
};

}  // namespace tokenfst
