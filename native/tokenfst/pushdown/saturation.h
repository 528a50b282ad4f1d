// Saturation: computes pop distances in order of length, 32 columns at a time.
//
// Every edge costs one token and nothing else costs any, so distances of d tokens follow from shorter ones:
//
//     fresh[d]         push sets, and the columns that are d tokens away from their kinds, as bits
//     landed[d]        pushes, and the kinds where they land after d tokens
//     crossed[push]    the columns crossed from where a push lands, as bits
//
//     landed[c] (push, kind) and fresh[d - c] (push set of kind)    after d tokens: columns of crossed[push], and
//                                                                   landings of the pushes with one more symbol under
//                                                                   it
//     new columns of crossed[push] after d tokens                   fresh[d + 1] in all push sets with the push
//
// The columns that are fresh after no token are the children of the kind itself. The end of the sequence is a column
// of every part of a push, since it needs no symbol below.
//
// The landings of one distance at kinds of one push set are a group. A group meets the fresh columns of its push set
// one distance after the other, and in between it waits in the list of the distance at which the next meeting is due.
// So the work is that of the meetings, and columns that are fresh take room for themselves alone. Both matter for a
// grammar like the bundled one of Python, where some symbols have a thousand columns and distances go up to 260 tokens.
//
// Rejected: visiting all landings of a distance for each distance of fresh columns, and keeping distances for all
// columns of all push sets; for Python, a hundred times as many visits, and sixteen times as many distances.
#pragma once

#include <bit>
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

  // Call `take(column, crossing)` for each column and push set from which it can be reached with a token, push sets
  // ascending.
  template <class Take>
  void for_each_crossing(Take take) const {
    for (int32_t set = 0; set < push_sets_.size(); ++set) {
      for (int32_t at = first_fresh_[set]; at != kDead; at = fresh_[at].next) {
        for (const auto& [word, bits] : columns_at(at)) {
          for (uint32_t left = bits; left; left &= left - 1)
            take(kBits * word + std::countr_zero(left), PopDistances::Crossing{set, fresh_[at].distance});
        }
      }
    }
  }

 private:
  static constexpr int32_t kBits = 32;
  using Bits = support::Matrix<uint32_t>;

  // Columns that share a word of bits. Those of a span are in the order of their words.
  struct ColumnWord {
    int32_t word;
    uint32_t bits;
  };
  using ColumnSpan = std::span<const ColumnWord>;
  // The columns of a push set that are fresh at a distance; `first` is their first word.
  struct Fresh {
    int32_t distance;
    int32_t next;  // of the same push set, kDead for the last
    size_t first;
  };
  struct Landed {
    int32_t push, kind;
  };
  struct Group {
    size_t begin, end;  // in `landed_`
    int32_t distance;
    int32_t last_met;  // the last fresh columns that it has met, kDead if none
    int32_t next;      // in the same list
  };

  void find_words();
  void find_pushes();
  void find_zeros();

  ColumnSpan columns_at(int32_t fresh) const {
    return ColumnSpan(fresh_words_).subspan(fresh_[fresh].first, fresh_[fresh + 1].first - fresh_[fresh].first);
  }
  ColumnSpan zeros_of(int32_t kind) const {
    return ColumnSpan(zeros_).subspan(zero_offsets_[kind], zero_offsets_[kind + 1] - zero_offsets_[kind]);
  }
  void land_at_targets();
  int64_t land(int32_t push, ColumnSpan columns);
  // Combine landings and fresh columns that are `distance` tokens together.
  void meet(int32_t distance);
  // Begin to fetch the crossed columns of a push before others are added: those of different pushes are far apart.
  void prefetch_crossed(int32_t push, ColumnSpan columns) const;
  void go_on(int32_t push, ColumnSpan columns);
  void change(int32_t push);
  void end(int32_t push);
  // Make groups of what has landed at a distance.
  void group_landed(int32_t distance);
  // Let a group wait for the fresh columns after those that it has met last.
  void wait(int32_t group);
  // Make newly crossed columns fresh after one more token.
  void add_fresh(int32_t distance);
  void find_changed_words(int32_t push);
  void add_set(int32_t set, int32_t distance);
  int32_t set_of(const Group& group) const { return push_sets_.of(landed_[group.begin].kind); }

  const Kinds& kinds_;
  const int32_t end_;
  const PopColumns& columns_;
  const Pushes& pushes_;
  const PushSets& push_sets_;
  const int32_t num_symbols_;
  Budget& budget_;

  support::Groups longer_;           // of a push, those with one more symbol under it
  Vector<uint8_t> is_left_behind_;   // [pushes], whether some move pushes it
  Vector<int32_t> word_offsets_;     // [S + 1]
  Vector<ColumnWord> column_words_;  // by symbol
  Vector<int32_t> first_in_word_;    // of each of these, the place of its first column among those of the symbol
  Vector<int32_t> zero_offsets_;     // [kinds + 1]
  Vector<ColumnWord> zeros_;         // by kind, the columns of its children
  Vector<Fresh> fresh_;              // by distance; the last one is an end of words alone
  Vector<ColumnWord> fresh_words_;   // by fresh
  Vector<int32_t> first_fresh_, last_fresh_;  // [push sets], kDead if there is none
  Vector<Landed> landed_;                     // by distance, then by group
  Vector<size_t> landed_ends_;                // [distances]
  Vector<Group> groups_;
  Vector<int32_t> due_;             // [distances], the first of the groups that meet fresh columns then
  Vector<int32_t> idle_;            // [push sets], the first of the groups that have met all fresh columns
  Vector<int64_t> landed_offsets_;  // [pushes]
  Vector<uint32_t> has_landed_;     // of each push, the columns of its last symbol that it has crossed, word by word
  Vector<uint8_t> has_ended_;
  Bits known_, new_known_;      // [push sets], the columns that have been fresh
  Bits crossed_, new_crossed_;  // [pushes]
  Vector<int32_t> changed_pushes_, changed_sets_, ending_;
  Vector<uint8_t> is_changed_, is_set_changed_;
  Vector<ColumnWord> changed_words_;  // of one push
  Vector<size_t> group_ends_;         // [push sets], scratch space
  Vector<Landed> ungrouped_;
};

}  // namespace tokenfst
