#include "tokenfst/masks.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace tokenfst {

namespace {

// With more states than this there are no slots by state: 512 KiB.
constexpr size_t kMaxSlots = size_t{1} << 16;

}  // namespace

void copy_mask(std::span<const uint32_t> mask, std::span<uint32_t> out) {
  // Not std::copy: compilers turn that into a loop of small steps, twice as slow.
  if (!mask.empty()) std::memcpy(out.data(), mask.data(), mask.size_bytes());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(mask.size()), out.end(), 0u);
}

ClassMasks::ClassMasks(const Vocabulary& vocabulary, std::span<const ClassRun> runs, int32_t num_classes)
    : vocabulary_(vocabulary),
      offsets_(static_cast<size_t>(num_classes) + 1),
      ranks_(runs.size()),
      sizes_(num_classes) {
  for (const ClassRun& run : runs) ++offsets_[run.number + 1];
  for (int32_t number = 0; number < num_classes; ++number) offsets_[number + 1] += offsets_[number];
  std::vector<int32_t> place(offsets_.begin(), offsets_.end() - 1);
  int32_t begin = 0;
  for (const ClassRun& run : runs) {
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

MaskCache::MaskCache(size_t max_masks, int64_t num_states)
    : slots_(num_states <= static_cast<int64_t>(std::min(max_masks, kMaxSlots)) ? num_states : 0),
      masks_(max_masks) {}

MaskCache::~MaskCache() {
  for (const auto& slot : slots_) delete slot.load();
}

bool MaskCache::copy(const MaskKey& key, std::span<uint32_t> out) const {
  if (has_slot(key)) {
    const Words* known = slots_[key.state].load(std::memory_order_acquire);
    if (known) copy_mask(*known, out);
    return known;
  }
  const auto known = masks_.find(key);
  if (known) copy_mask(*known, out);
  return known != nullptr;
}

void MaskCache::keep(const MaskKey& key, Words&& words, std::span<uint32_t> out) {
  copy_mask(words, out);
  if (!has_slot(key)) {
    masks_.insert(key, std::make_shared<const Words>(std::move(words)));
    return;
  }
  auto kept = std::make_unique<const Words>(std::move(words));
  const Words* none = nullptr;
  if (slots_[key.state].compare_exchange_strong(none, kept.get(), std::memory_order_acq_rel)) kept.release();
}

}  // namespace tokenfst
