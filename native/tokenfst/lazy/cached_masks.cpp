#include "tokenfst/lazy/cached_masks.h"

#include <algorithm>

namespace tokenfst {

namespace {

// Up to this many flips take no longer than copying words.
constexpr size_t kFewFlips = 64;
// A mask gets words of its own when it is written for the `kOften`-th time, and at most `kMaxHot` masks have them. With
// 128,000 tokens they take 16 KiB each, more than everything else that most automata keep.
constexpr int32_t kOften = 2;
constexpr size_t kMaxHot = 1 << 9;

}  // namespace

void CachedMask::write(std::span<uint32_t> out) const {
  if (base) {
    copy_mask(*base, out);
  } else {
    std::ranges::fill(out, 0u);
  }
  for (int32_t token : flips) support::flip_bit(out, token);
}

bool CachedMask::allows(int32_t token) const {
  return (base && support::has_bit(*base, token)) != (std::ranges::count(flips, token) % 2 != 0);
}

void MaskWriter::write(const CachedMask& mask, std::span<uint32_t> out) {
  if (!mask.words.empty()) return copy_mask(mask.words, out);
  mask.write(out);
  if (mask.flips.size() <= kFewFlips || num_hot_ >= kMaxHot || ++mask.num_written < kOften) return;
  mask.words.assign(out.begin(), out.begin() + static_cast<ptrdiff_t>(words_per_mask_));
  ++num_hot_;
}

const MaskPointer& ContextMaskCache::find(int64_t state) const {
  static const MaskPointer kNoMask;
  const auto found = masks_.find(state);
  return found == masks_.end() ? kNoMask : found->second;
}

MaskPointer ContextMaskCache::find_context(const NumberedConfiguration& at, const Stacks& stacks) const {
  int32_t top = at.top;
  auto found = deeper_.find({kNone, at.state});
  while (found != deeper_.end() && !contexts_[found->second]) {
    const int32_t symbol = top == Stacks::kEmpty ? kBottom : stacks[top].symbol;
    top = stacks[top].below;
    found = deeper_.find({found->second, symbol});
  }
  return found == deeper_.end() ? nullptr : contexts_[found->second];
}

void ContextMaskCache::keep_context(const NumberedConfiguration& at, const Stacks& stacks, MaskPointer mask) {
  const auto context = [&](int32_t above, int32_t symbol) {
    support::reserve_more(contexts_, 1);
    const auto [place, is_new] = deeper_.try_emplace({above, symbol}, static_cast<int32_t>(contexts_.size()));
    if (is_new) contexts_.push_back(nullptr);
    return place->second;
  };
  int32_t number = context(kNone, at.state), top = at.top;
  for (int32_t depth = 0; depth < mask->depth; ++depth) {
    number = context(number, top == Stacks::kEmpty ? kBottom : stacks[top].symbol);
    top = stacks[top].below;
  }
  num_word_bytes_ += mask->num_word_bytes(), num_bytes_ += mask->num_bytes();
  contexts_[number] = std::move(mask);
}

void ContextMaskCache::keep(int64_t state, MaskPointer mask) { masks_.insert_or_assign(state, std::move(mask)); }

void ContextMaskCache::clear() {
  masks_.clear();
  contexts_.clear();
  deeper_.clear();
  num_word_bytes_ = num_bytes_ = 0;
}

}  // namespace tokenfst
