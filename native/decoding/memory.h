// The arena's memory as the steps on the CPU read it.
//
//     Memory          the blocks of all slots
//     Block           the block of one slot, with checked reads
//     SequenceBatch   the rows, counts and stacks of the sequences of a batch
//
// The contents of blocks and sequences come from tensors that a user may write to at any time, and one number leads to
// the next. So no check beforehand suffices: every read is checked where it is made, which costs a comparison that is
// always predicted. Loops over words take a span, which is checked once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "decoding/layout.h"

namespace decoding {

class Block {
 public:
  // The first words are the head.
  explicit Block(std::span<const int32_t> words) : words_(words) {
    if (words.size() < static_cast<size_t>(kNumFields)) fail();
  }

  int64_t operator[](Number number) const { return words_[static_cast<size_t>(number)]; }
  // Return where a table begins.
  int64_t operator[](Table table) const { return words_[static_cast<size_t>(table)]; }
  int64_t num_rows() const { return (*this)[Table::kMasks] - (*this)[Table::kRowMask]; }
  int64_t num_tokens() const { return (*this)[Table::kRowMask] - (*this)[Table::kClasses]; }

  // `size` words from `place` on.
  std::span<const int32_t> words(int64_t place, int64_t size) const {
    const auto all = static_cast<int64_t>(words_.size());
    if (place < 0 || size < 0 || size > all || place > all - size) fail();
    return words_.subspan(static_cast<size_t>(place), static_cast<size_t>(size));
  }
  int32_t word(int64_t place) const {
    if (static_cast<uint64_t>(place) >= words_.size()) fail();
    return words_[static_cast<size_t>(place)];
  }
  int32_t word(Table table, int64_t place) const { return word((*this)[table] + place); }
  // Return a record of a table of such records.
  template <class Record>
  Record record(Table table, int64_t number) const {
    constexpr auto kSize = static_cast<int64_t>(sizeof(Record) / sizeof(int32_t));
    return *reinterpret_cast<const Record*>(words((*this)[table] + kSize * number, kSize).data());
  }

 private:
  [[noreturn]] static void fail() { throw std::invalid_argument("a place lies outside of the automaton's block"); }

  std::span<const int32_t> words_;
};

struct Memory {
  std::span<const int32_t> words;
  std::span<const int64_t> places, sizes;  // by slot, in words; size 0 if there is no automaton

  // Return the block of a slot that is in use.
  Block block(int64_t slot) const;
};

// Masks without a budget use only slots and rows.
struct SequenceBatch {
  size_t size;                             // B
  size_t configurations, parts;            // P configurations of a sequence, L rows of a configuration
  const int64_t* slots;                    // [B]
  const int64_t* all_rows;                 // [B, P, L]
  const int64_t* counts = nullptr;         // [B, P]
  const int64_t* heights = nullptr;        // [B, P]
  const StackEntry* all_stacks = nullptr;  // [B, P, stack_size]
  size_t stack_size = 0;

  std::span<const int64_t> rows(size_t sequence) const {
    return {all_rows + sequence * configurations * parts, configurations * parts};
  }
  std::span<const int64_t> rows(size_t sequence, size_t configuration) const {
    return rows(sequence).subspan(configuration * parts, parts);
  }
  int64_t count(size_t sequence, size_t configuration) const {
    return counts[sequence * configurations + configuration];
  }
  int64_t height(size_t sequence, size_t configuration) const {
    return heights[sequence * configurations + configuration];
  }
  std::span<const StackEntry> stack(size_t sequence, size_t configuration) const {
    return {all_stacks + (sequence * configurations + configuration) * stack_size, stack_size};
  }
};

// Throw invalid_argument, naming the number, unless every slot is in use and every row belongs to its automaton.
void check_rows(const Memory& memory, const SequenceBatch& at);
// The same unless all counts and heights are in range.
void check_counts(const SequenceBatch& at);

}  // namespace decoding
