#include "decoding/row_masks.h"

#include <algorithm>

#include "support/bits.h"
#include "support/csr.h"
#include "support/interner.h"
#include "support/value_interner.h"

namespace decoding {

namespace {

using support::Budget;
using support::Vector;

constexpr int32_t kNever = 0;  // the class of tokens that no row allows

// Writes masks, and stores each chunk once.
class Writer {
 public:
  Writer(int32_t num_classes, std::span<const int32_t> token_class, int64_t begin, int64_t end, Budget& budget)
      : budget_(budget),
        width_(end - begin),
        tokens_(support::grouped(
            num_classes, static_cast<size_t>(width_),
            [&](size_t at) { return at + begin < token_class.size() ? token_class[at + begin] : kNever; }, budget)),
        is_allowed_(num_classes, budget),
        touched_(static_cast<size_t>((width_ + kChunkTokens - 1) / kChunkTokens), true, budget),
        words_(touched_.size() * kChunkWords, 0, budget),
        full_(touched_.size(), 0, budget),
        chunks_(budget) {
    chunks_.intern(kNothing);
    for (int64_t token = 0; token < width_; ++token) support::set_bit(words_, static_cast<uint32_t>(token));
    intern_touched(full_.data());
  }

  int64_t num_chunks() const { return static_cast<int64_t>(full_.size()); }
  std::vector<Chunk> chunks() const {
    budget_.charge(chunks_.size() * sizeof(Chunk));
    std::vector<Chunk> found;
    found.reserve(chunks_.size());
    for (int32_t number = 0; number < chunks_.size(); ++number) found.push_back(chunks_[number]);
    return found;
  }

  // Write the numbers of the chunks of a mask, `[C]`.
  void write(std::span<const int32_t> classes, int32_t* numbers) {
    int64_t count = 0;
    for (int32_t number : classes) count += number == kNever ? 0 : size(number);
    if (2 * count <= width_) {
      std::fill_n(numbers, num_chunks(), 0);
      for (int32_t number : classes) {
        if (number != kNever) flip(number, numbers);
      }
    } else {
      std::ranges::copy(full_, numbers);
      std::ranges::fill(is_allowed_, false);
      for (int32_t number : classes) is_allowed_[number] = number != kNever;
      for (size_t number = 0; number < is_allowed_.size(); ++number) {
        if (!is_allowed_[number]) flip(static_cast<int32_t>(number), numbers);
      }
      budget_.spend(static_cast<int64_t>(is_allowed_.size()));
    }
    intern_touched(numbers);
  }

 private:
  static constexpr Chunk kNothing{};

  int64_t size(int32_t number) const { return static_cast<int64_t>(tokens_[number].size()); }
  std::span<uint32_t> words(size_t chunk) { return std::span(words_).subspan(chunk * kChunkWords, kChunkWords); }

  // Flip the bits of a class; chunks that were not touched before begin as the chunks in `numbers`.
  void flip(int32_t number, const int32_t* numbers) {
    for (int32_t token : tokens_[number]) {
      const size_t chunk = static_cast<size_t>(token) / kChunkTokens;
      if (!touched_[chunk]) {
        touched_[chunk] = true;
        std::ranges::copy(chunks_[numbers[chunk]], words(chunk).begin());
      }
      support::flip_bit(words_, static_cast<uint32_t>(token));
    }
    budget_.spend(1 + size(number));
  }
  void intern_touched(int32_t* numbers) {
    for (size_t chunk = 0; chunk < touched_.size(); ++chunk) {
      if (!touched_[chunk]) continue;
      touched_[chunk] = false;
      Chunk own;
      std::ranges::copy(words(chunk), own.begin());
      numbers[chunk] = chunks_.intern(own).number;
      budget_.spend(kChunkWords);
    }
    budget_.spend(num_chunks());
  }

  Budget& budget_;
  const int64_t width_;
  const support::Groups tokens_;  // by class, counted from the first token
  Vector<uint8_t> is_allowed_;
  Vector<uint8_t> touched_;  // the chunks that the mask being written has words for
  Vector<uint32_t> words_;
  Vector<int32_t> full_;  // the mask of all tokens
  support::ValueInterner<Chunk> chunks_;
};

// Finds the only token of some classes.
class Forced {
 public:
  Forced(int32_t num_classes, std::span<const int32_t> token_class, Budget& budget)
      : tokens_(
            support::grouped(num_classes, token_class.size(), [&](size_t at) { return token_class[at]; }, budget)) {}

  int32_t operator()(std::span<const int32_t> classes) const {
    int32_t found = kNothingAllowed;
    for (int32_t number : classes) {
      const auto own = tokens_[number];
      if (own.empty()) continue;
      if (found != kNothingAllowed || own.size() > 1) return kSeveralAllowed;
      found = own.front();
    }
    return found;
  }

 private:
  const support::Groups tokens_;
};

}  // namespace

RowMasks row_masks(const SparseRows& rows, std::span<const int32_t> token_class, int64_t begin, int64_t end,
                   Budget& budget) {
  Writer writer(rows.num_classes, token_class, begin, end, budget);
  const Forced forced(rows.num_classes, token_class, budget);
  support::Interner<int32_t> sets(budget);
  Vector<int32_t> masks(budget), tokens(budget);
  RowMasks found;
  budget.charge(2 * sizeof(int32_t) * static_cast<size_t>(rows.size()));
  for (int32_t row = 0; row < rows.size(); ++row) {
    for (int64_t number : rows.classes(row)) sets.push(static_cast<int32_t>(number));
    const auto [mask, is_new] = sets.close();
    if (is_new) {
      tokens.push_back(forced(sets[mask]));
      masks.resize(masks.size() + static_cast<size_t>(writer.num_chunks()));
      writer.write(sets[mask], masks.data() + mask * writer.num_chunks());
    }
    found.mask_of_row.push_back(mask);
    found.forced.push_back(tokens[mask]);
    budget.spend(1 + static_cast<int64_t>(rows.classes(row).size()));
  }
  found.chunks = writer.chunks();
  found.chunks_of_mask = support::charged_copy(masks, budget);
  return found;
}

}  // namespace decoding
