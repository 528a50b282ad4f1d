// ColumnSets: sets of the columns of a table, each stored once and known by a number, so that most questions about all
// columns are one operation on a few words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "automata/arcs.h"
#include "support/interner.h"

namespace automata {

class ColumnSets {
 public:
  static constexpr int32_t kEmpty = 0;

  ColumnSets(int32_t num_columns, Budget& budget)
      : num_columns_(num_columns),
        num_words_((static_cast<size_t>(num_columns) + 63) / 64),
        budget_(budget),
        sets_(budget) {
    make([](size_t) { return uint64_t{0}; });
    all_ = make([&](size_t word) {
      const size_t left = num_columns_ - 64 * word;
      return left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
    });
  }

  int32_t num_columns() const { return num_columns_; }
  int32_t all() const { return all_; }
  int32_t one(int32_t column) {
    const auto at = static_cast<size_t>(column);
    return make([&](size_t word) { return word == at / 64 ? uint64_t{1} << at % 64 : 0; });
  }
  // Return the columns in which a row is not kNone.
  int32_t of(std::span<const int32_t> row) {
    return make([&](size_t word) {
      uint64_t bits = 0;
      for (size_t column = 64 * word; column < std::min<size_t>(64 * word + 64, row.size()); ++column) {
        bits |= uint64_t{row[column] != kNone} << column % 64;
      }
      return bits;
    });
  }
  int32_t both(int32_t left, int32_t right) {
    if (left == right || left == kEmpty || right == all_) return left;
    if (right == kEmpty || left == all_) return right;
    return make([&](size_t word) { return sets_[left][word] & sets_[right][word]; });
  }
  int32_t either(int32_t left, int32_t right) {
    if (left == right || right == kEmpty) return left;
    if (left == kEmpty) return right;
    return make([&](size_t word) { return sets_[left][word] | sets_[right][word]; });
  }
  int32_t without(int32_t left, int32_t right) {
    if (left == kEmpty || right == kEmpty) return left;
    if (left == right) return kEmpty;
    return make([&](size_t word) { return sets_[left][word] & ~sets_[right][word]; });
  }
  // Call `each(column)` in ascending order; `each` must not make sets.
  template <class Each>
  void visit(int32_t set, Each each) const {
    for (size_t word = 0; word < num_words_; ++word) {
      for (uint64_t bits = sets_[set][word]; bits; bits &= bits - 1) {
        each(static_cast<int32_t>(64 * word) + std::countr_zero(bits));
      }
    }
  }

 private:
  template <class Word>
  int32_t make(Word word_at) {
    budget_.spend(4 + static_cast<int64_t>(num_words_));
    sets_.discard();
    for (size_t word = 0; word < num_words_; ++word) {
      const uint64_t bits = word_at(word);
      sets_.push(bits);
    }
    return sets_.close().number;
  }

  const int32_t num_columns_;
  const size_t num_words_;
  Budget& budget_;
  support::Interner<uint64_t> sets_;
  int32_t all_;
};

}  // namespace automata
