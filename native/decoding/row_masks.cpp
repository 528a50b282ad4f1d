#include "decoding/row_masks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "support/bits.h"
#include "support/interner.h"
#include "support/value_interner.h"

namespace decoding {

namespace {

using support::Budget;
using support::Vector;

constexpr int32_t kNever = 0;  // the class of tokens that no row allows

// A mask with at most `kFewFlips` flips is not compared with earlier ones, and others with the last `kMaxBefore`.
constexpr int64_t kFewFlips = 64;
constexpr int32_t kMaxBefore = 16;

// The tokens of each class but `kNever`, as far as masks are over them, and the only token of each class. Most
// vocabularies have one class of plain text with nearly all tokens. A list of them would be long, so the class of most
// tokens is a row of bits, and all other tokens are found by comparing with it.
class ClassTokens {
 public:
  ClassTokens(int32_t num_classes, std::span<const int32_t> token_class, int64_t begin, int64_t end, Budget& budget)
      : only_(num_classes, kNothingAllowed, budget),
        begins_(static_cast<size_t>(num_classes) + 1, 0, budget),
        tokens_(budget),
        common_bits_(support::words_for(static_cast<size_t>(end - begin)), 0, budget) {
    if (token_class.empty()) return;
    const int32_t common_token = token_of_most(token_class);
    common_ = token_class[common_token];
    const Vector<int32_t> others = others_of(token_class, budget);
    only_[common_] = others.size() + 1 == token_class.size() ? common_token : kSeveralAllowed;
    for (int32_t token : others) {
      int32_t& only = only_[token_class[token]];
      only = only == kNothingAllowed ? token : kSeveralAllowed;
    }
    const auto size = static_cast<int64_t>(token_class.size());
    list(token_class, others, std::min(begin, size), std::min(end, size), budget);
  }

  // Return how many steps it takes to flip the bits of a class.
  int64_t num_flips(int32_t number) const {
    return is_common(number) ? static_cast<int64_t>(common_bits_.size()) / 4 : begins_[number + 1] - begins_[number];
  }
  bool is_common(int32_t number) const { return number == common_ && number != kNever; }
  std::span<const uint32_t> common_bits() const { return common_bits_; }
  // Return the tokens of a class that is not common, ascending, counted from the first.
  std::span<const int32_t> operator[](int32_t number) const {
    return {tokens_.data() + begins_[number], tokens_.data() + begins_[number + 1]};
  }
  // Return the only token of some classes in the whole vocabulary, `kSeveralAllowed` or `kNothingAllowed`.
  int32_t only(std::span<const int32_t> classes) const {
    int32_t found = kNothingAllowed;
    for (int32_t number : classes) {
      const int32_t own = only_[number];
      if (own == kNothingAllowed) continue;
      if (found != kNothingAllowed || own == kSeveralAllowed) return kSeveralAllowed;
      found = own;
    }
    return found;
  }

 private:
  // Return a token of the class that most of some tokens have.
  static int32_t token_of_most(std::span<const int32_t> token_class) {
    constexpr size_t kSome = 64;
    std::array<int32_t, kSome> some{};
    for (size_t at = 0; at < kSome; ++at) some[at] = static_cast<int32_t>(at * token_class.size() / kSome);
    const auto number_of = [&](int32_t token) { return token_class[token]; };
    const auto count = [&](int32_t token) { return std::ranges::count(some, number_of(token), number_of); };
    return std::ranges::max(some, {}, count);
  }
  Vector<int32_t> others_of(std::span<const int32_t> token_class, Budget& budget) const {
    constexpr size_t kStep = 32;
    Vector<int32_t> found(budget);
    for (size_t first = 0; first < token_class.size(); first += kStep) {
      const auto some = token_class.subspan(first, std::min(kStep, token_class.size() - first));
      uint32_t is_other = 0;
      for (size_t at = 0; at < some.size(); ++at) is_other |= uint32_t{some[at] != common_} << at;
      for (; is_other; is_other &= is_other - 1)
        found.push_back(static_cast<int32_t>(first) + std::countr_zero(is_other));
    }
    budget.spend(static_cast<int64_t>(token_class.size() / 4 + found.size()));
    return found;
  }
  void list(std::span<const int32_t> token_class, std::span<const int32_t> others, int64_t first, int64_t last,
            Budget& budget) {
    const auto begin = std::ranges::lower_bound(others, first), end = std::ranges::lower_bound(others, last);
    const std::span<const int32_t> own(begin, end);
    for (int32_t token : own) ++begins_[token_class[token]];
    begins_[kNever] = 0;
    int32_t size = 0;
    for (int32_t& place : begins_) size += std::exchange(place, size);
    tokens_.resize(size);
    const auto whole = static_cast<size_t>(last - first) / 32;
    std::fill_n(common_bits_.begin(), whole, ~uint32_t{0});
    if ((last - first) % 32) common_bits_[whole] = (uint32_t{1} << (last - first) % 32) - 1;
    Vector<int32_t> at(begins_.begin(), begins_.end(), budget);
    for (int32_t token : own) {
      const auto place = static_cast<int32_t>(token - first);
      support::clear_bit(common_bits_, static_cast<uint32_t>(place));
      if (token_class[token] != kNever) tokens_[at[token_class[token]]++] = place;
    }
    budget.spend(4 * static_cast<int64_t>(own.size()) + static_cast<int64_t>(common_bits_.size()));
  }

  Vector<int32_t> only_;    // [K]
  Vector<int32_t> begins_;  // [K + 1]
  Vector<int32_t> tokens_;  // by class
  Vector<uint32_t> common_bits_;
  int32_t common_ = kNever;
};

// Call `visit` for each class that is in one of two ascending spans alone, until it returns false.
template <class Visit>
void for_each_difference(std::span<const int32_t> a, std::span<const int32_t> b, Visit visit) {
  auto left = a.begin(), right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && *left < *right)) {
      if (!visit(*left++)) return;
    } else if (left == a.end() || *right < *left) {
      if (!visit(*right++)) return;
    } else {
      ++left, ++right;
    }
  }
}

// Writes masks, and stores each chunk once.
class Writer {
 public:
  Writer(const ClassTokens& tokens, int64_t width, Budget& budget)
      : budget_(budget),
        tokens_(tokens),
        sets_(budget),
        touched_(static_cast<size_t>((width + kChunkTokens - 1) / kChunkTokens), false, budget),
        words_(touched_.size() * kChunkWords, 0, budget),
        numbers_(budget),
        chunks_(budget) {
    chunks_.intern(kNothing);
  }

  // Add a class to the set that is being written.
  void push(int32_t number) { sets_.push(number); }
  // Return the number of the mask of a set, and whether it is new.
  support::Interned close() {
    const auto mask = sets_.close();
    if (mask.is_new) write(mask.number);
    return mask;
  }
  std::span<const int32_t> set(int32_t mask) const { return sets_[mask]; }
  // Return the numbers of the chunks of all masks, `[A, C]`.
  const Vector<int32_t>& numbers() const { return numbers_; }
  std::vector<Chunk> chunks() const {
    budget_.charge(chunks_.size() * sizeof(Chunk));
    std::vector<Chunk> found;
    found.reserve(chunks_.size());
    for (int32_t number = 0; number < chunks_.size(); ++number) found.push_back(chunks_[number]);
    return found;
  }

 private:
  static constexpr Chunk kNothing{};
  static constexpr int32_t kNoMask = -1;

  size_t num_chunks() const { return touched_.size(); }
  std::span<uint32_t> words(size_t chunk) { return std::span(words_).subspan(chunk * kChunkWords, kChunkWords); }

  void write(int32_t mask) {
    const int32_t base = base_of(mask);
    numbers_.resize(numbers_.size() + num_chunks(), 0);
    int32_t* numbers = numbers_.data() + mask * num_chunks();
    if (base != kNoMask) std::copy_n(numbers_.data() + base * num_chunks(), num_chunks(), numbers);
    for_each_difference(classes_of(base), sets_[mask], [&](int32_t number) {
      flip(number, numbers);
      return true;
    });
    intern_touched(numbers);
  }
  std::span<const int32_t> classes_of(int32_t base) const {
    return base == kNoMask ? std::span<const int32_t>() : sets_[base];
  }
  // Return the mask before one that differs from it by the fewest flips; `kNoMask` if the empty one does.
  int32_t base_of(int32_t mask) {
    int64_t fewest = 0;
    for (int32_t number : sets_[mask]) fewest += tokens_.num_flips(number);
    int32_t base = kNoMask;
    for (int32_t before = mask - 1; before >= std::max(mask - kMaxBefore, 0) && fewest > kFewFlips; --before) {
      int64_t flips = 0, steps = 1;
      for_each_difference(sets_[before], sets_[mask], [&](int32_t number) {
        flips += tokens_.num_flips(number), ++steps;
        return flips < fewest;
      });
      if (flips < fewest) fewest = flips, base = before;
      budget_.spend(steps);
    }
    return base;
  }

  // Flip the bits of a class; chunks that were not touched before begin as the chunks in `numbers`.
  void flip(int32_t number, const int32_t* numbers) {
    if (tokens_.is_common(number)) return flip_common(number, numbers);
    for (int32_t token : tokens_[number]) {
      touch(static_cast<size_t>(token) / kChunkTokens, numbers);
      support::flip_bit(words_, static_cast<uint32_t>(token));
    }
    budget_.spend(1 + tokens_.num_flips(number));
  }
  void flip_common(int32_t number, const int32_t* numbers) {
    const auto bits = tokens_.common_bits();
    for (size_t chunk = 0; chunk < num_chunks(); ++chunk) touch(chunk, numbers);
    for (size_t word = 0; word < bits.size(); ++word) words_[word] ^= bits[word];
    budget_.spend(tokens_.num_flips(number));
  }
  void touch(size_t chunk, const int32_t* numbers) {
    if (touched_[chunk]) return;
    touched_[chunk] = true;
    std::ranges::copy(chunks_[numbers[chunk]], words(chunk).begin());
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
    budget_.spend(static_cast<int64_t>(num_chunks()));
  }

  Budget& budget_;
  const ClassTokens& tokens_;
  support::Interner<int32_t> sets_;  // the classes of each mask
  Vector<uint8_t> touched_;          // the chunks that the mask being written has words for
  Vector<uint32_t> words_;
  Vector<int32_t> numbers_;  // [A, C]
  support::ValueInterner<Chunk> chunks_;
};

}  // namespace

RowMasks row_masks(const SparseRows& rows, std::span<const int32_t> token_class, int64_t begin, int64_t end,
                   Budget& budget) {
  const ClassTokens class_tokens(rows.num_classes, token_class, begin, end, budget);
  Writer writer(class_tokens, end - begin, budget);
  Vector<int32_t> forced(budget);
  RowMasks found;
  budget.charge(2 * sizeof(int32_t) * static_cast<size_t>(rows.size()));
  const auto add = [&](std::span<const RowEdge> edges, int32_t level) {
    for (const RowEdge& edge : edges) {
      if (edge.level <= level) writer.push(edge.number);
    }
    const auto [mask, is_new] = writer.close();
    if (is_new) forced.push_back(class_tokens.only(writer.set(mask)));
    found.mask_of_row.push_back(mask);
    found.forced.push_back(forced[mask]);
    budget.spend(1 + static_cast<int64_t>(edges.size()));
  };
  for (int32_t family = 0; family < rows.num_families(); ++family) {
    const int32_t num_levels = rows.first[family + 1] - rows.first[family];
    for (int32_t level = 0; level < num_levels; ++level) add(rows.family(family), level);
  }
  found.chunks = writer.chunks();
  found.chunks_of_mask = support::charged_copy(writer.numbers(), budget);
  return found;
}

}  // namespace decoding
