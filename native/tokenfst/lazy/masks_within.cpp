#include "tokenfst/lazy/masks_within.h"

#include <algorithm>
#include <utility>

namespace tokenfst {

namespace {

// A reach takes 4 KiB to 1 MiB, and words take 16 KiB, with a vocabulary of 128,000 tokens.
constexpr size_t kMaxReaches = 1 << 9, kMaxWords = 1 << 10;

void assign_bit(std::span<uint32_t> words, int32_t token, bool value) {
  const auto bit = static_cast<uint32_t>(token);
  if (support::has_bit(words, bit) != value) support::flip_bit(words, bit);
}

}  // namespace

Context MasksWithin::below(const CachedMask& mask, int32_t top) const {
  for (int32_t depth = 0; depth < mask.depth; ++depth) top = context_.stacks[top].below;
  return distances_.context(top);
}

void MasksWithin::clear() {
  reaches_.clear();
  num_words_ = 0;
}

bool MasksWithin::write(const NumberedConfiguration& at, int32_t kept, int64_t limit, std::span<const FirstToken> first,
                        std::span<uint32_t> out) {
  distances_.follow();
  const auto [known, cost] = kept_reach(at, kept, first);
  const Vector<int32_t>& levels = known->reach.levels;
  const size_t level = std::ranges::lower_bound(levels, limit - cost) - levels.begin();
  if (level == levels.size()) {
    known->mask->write(out);
    return true;
  }
  if (known->words[level].empty()) {
    known->words[level] = words_within(*known, levels[level]);
    ++num_words_;
  }
  copy_mask(known->words[level], out);
  return false;
}

std::pair<MasksWithin::Kept*, int32_t> MasksWithin::kept_reach(const NumberedConfiguration& at, int32_t kept,
                                                               std::span<const FirstToken> first) {
  const MaskPointer mask = mask_of_(at);
  const Context context = below(*mask, at.top);
  const int32_t cost = is_even(at.state) ? distances_.distance(at.state, at.top) : context.cost;
  const Key key{mask.get(), kept, context.number};
  if (const auto known = reaches_.find(key); known != reaches_.end()) return {&known->second, cost};
  Reach found = finder_.find(at, [&](const NumberedConfiguration& other) {
    const auto [known, own_cost] = kept_reach(other, other.state, {});
    Reach reach = known->reach;
    reach.add(own_cost);
    return reach;
  });
  for (const FirstToken& own : first) {
    const bool is_allowed = own.target.state != kDead;
    found.first.push_back({own.token, is_allowed ? distances_.distance(own.target.state, own.target.top) : kRefused});
  }
  found.add(-cost);
  if (reaches_.size() >= kMaxReaches || num_words_ >= kMaxWords) clear();
  const size_t num_levels = found.levels.size();
  Kept made{mask, std::move(found), std::vector<Words>(num_levels)};
  return {&reaches_.emplace(key, std::move(made)).first->second, cost};
}

Words MasksWithin::words_within(const Kept& kept, int32_t limit) const {
  const Reach& reach = kept.reach;
  Words words(vocabulary_.num_words());
  for (const Reach::Base& base : reach.bases) {
    const bool is_near = base.distance < limit;
    for (size_t word = 0; word < words.size(); ++word) {
      words[word] = is_near ? words[word] | (*base.words)[word] : words[word] & ~(*base.words)[word];
    }
  }
  const auto assign_runs = [&](const Vector<Reach::Run>& runs) {
    for (const Reach::Run& run : runs) {
      for (int32_t rank = run.first; rank < run.end; ++rank) {
        assign_bit(words, vocabulary_.token_of_rank()[rank], run.distance < limit);
      }
    }
  };
  const auto assign_tokens = [&](const Vector<Reach::Token>& tokens) {
    for (const Reach::Token& own : tokens) assign_bit(words, own.token, own.distance < limit);
  };
  assign_runs(reach.runs);
  assign_tokens(reach.tokens);
  assign_runs(reach.changes);
  if (kept.mask->is_final) {
    const auto ends = vocabulary_.eos_words();
    for (size_t word = 0; word < words.size(); ++word) words[word] |= ends[word];
  }
  assign_tokens(reach.first);
  return words;
}

}  // namespace tokenfst
