#include "tokenfst/masks.h"

#include <algorithm>

#include "support/hash.h"

namespace tokenfst {

void copy_mask(std::span<const uint32_t> mask, std::span<uint32_t> out) {
  std::ranges::copy(mask, out.begin());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(mask.size()), out.end(), 0u);
}

ClassMasks::ClassMasks(const Vocabulary& vocabulary, std::span<const Run> runs, int32_t num_classes)
    : vocabulary_(vocabulary),
      offsets_(num_classes + 1),
      ranks_(runs.size()),
      sizes_(num_classes) {
  for (const Run& run : runs) ++offsets_[run.number + 1];
  for (int32_t number = 0; number < num_classes; ++number) offsets_[number + 1] += offsets_[number];
  std::vector<int32_t> place(offsets_.begin(), offsets_.end() - 1);
  int32_t begin = 0;
  for (const Run& run : runs) {
    ranks_[place[run.number]++] = {begin, run.end};
    sizes_[run.number] += run.end - begin;
    begin = run.end;
  }
}

void ClassMasks::flip(int32_t number, std::span<uint32_t> words) const {
  const auto token_of_rank = vocabulary_.token_of_rank();
  for (const Ranks& run : ranks(number)) {
    for (int32_t rank = run.first; rank < run.end; ++rank) support::flip_bit(words, token_of_rank[rank]);
  }
}

Words ClassMasks::mask(std::span<const int32_t> allowed) const {
  int64_t count = 0;
  for (int32_t number : allowed) count += number == kNever ? 0 : sizes_[number];
  Words words(vocabulary_.num_words());
  if (2 * count <= vocabulary_.num_ranks()) {
    for (int32_t number : allowed) {
      if (number != kNever) flip(number, words);
    }
  } else {
    std::ranges::copy(vocabulary_.all_words(), words.begin());
    std::vector<uint8_t> refused(sizes_.size(), true);
    for (int32_t number : allowed) refused[number] = number == kNever;
    for (size_t number = 0; number < refused.size(); ++number) {
      if (refused[number]) flip(static_cast<int32_t>(number), words);
    }
  }
  if (std::ranges::find(allowed, kEnd) != allowed.end()) {
    std::ranges::transform(words, vocabulary_.eos_words(), words.begin(), std::bit_or());
  }
  return words;
}

size_t MaskKeyHash::operator()(const MaskKey& key) const { return support::mixed_value(0, key); }

std::shared_ptr<const Words> MaskCache::find(const MaskKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = masks_.find(key);
  return found == masks_.end() ? nullptr : found->second;
}

std::shared_ptr<const Words> MaskCache::keep(const MaskKey& key, Words&& words) {
  auto kept = std::make_shared<const Words>(std::move(words));
  const std::lock_guard lock(mutex_);
  while (order_.size() >= most_) {
    masks_.erase(order_.front());
    order_.pop_front();
  }
  const auto [place, is_new] = masks_.try_emplace(key, kept);
  if (is_new) order_.push_back(key);
  return place->second;
}

}  // namespace tokenfst
