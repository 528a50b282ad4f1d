#include "tokenfst/lazy/masks_within.h"

#include <algorithm>

namespace tokenfst {

namespace {

// A reach takes 4 KiB to 1 MiB, and a mask 16 KiB, with a vocabulary of 128,000 tokens.
constexpr size_t kMostReaches = 1 << 9, kMostMasks = 1 << 10;

// Notes the distances after all tokens that a configuration allows.
class ReachWalk {
 public:
  using Places = Place;

  ReachWalk(WalkContext& context, bool whole, StackDistances& distances, Vector<Reach::Run>& runs)
      : context_(context),
        whole_(whole),
        distances_(distances),
        runs_(runs) {}

  int32_t skipped(const Place& from, std::span<const uint8_t> bytes, bool) const {
    return num_before(bytes, context_.machine.leading(from.state));
  }
  bool step(const Place& from, uint8_t byte, Place& reached) {
    Looked looked{};
    reached = context_.machine.step(from, context_.machine.byte_class()[byte], context_.stacks, looked);
    if (reached.state == kDead) return false;
    distances_.add(from.free, reached.free);
    return true;
  }
  bool covers(const Place& from, const Place& reached, const TrieNode& node) {
    return loops_below(context_, from, reached, node, whole_, &StateLoops::returning);
  }
  bool collects_below(const Place&, const TrieNode&) { return false; }
  void found(int32_t first, int32_t end, const Place& reached) {
    const int32_t distance = distances_.distance(reached.state, reached.top);
    if (!runs_.empty() && runs_.back().end == first && runs_.back().distance == distance) {
      runs_.back().end = end;
    } else {
      runs_.push_back({first, end, distance});
    }
  }

 private:
  WalkContext& context_;
  const bool whole_;
  StackDistances& distances_;
  Vector<Reach::Run>& runs_;
};

}  // namespace

Context MasksWithin::below(const CachedMask& mask, int32_t top) const {
  for (int32_t depth = 0; depth < mask.depth; ++depth) top = context_.stacks[top].below;
  return distances_.context(top);
}

void MasksWithin::clear() {
  reaches_.clear();
  num_masks_ = 0;
}

bool MasksWithin::write(const MaskPointer& mask, const NumberedConfiguration& at, int32_t kept, int64_t limit,
                        std::span<const FirstToken> first, std::span<uint32_t> out) {
  distances_.follow();
  const Context context = below(*mask, at.top);
  const int32_t cost = is_even(at.state) ? distances_.distance(at.state, at.top) : context.cost;
  const Key key{mask.get(), kept, context.number};
  auto known = reaches_.find(key);
  if (known == reaches_.end()) {
    if (reaches_.size() >= kMostReaches || num_masks_ >= kMostMasks) clear();
    known = reaches_.emplace(key, find(mask, at, cost, first)).first;
  }
  Reach& reach = known->second;
  const size_t level = std::ranges::lower_bound(reach.levels, limit - cost) - reach.levels.begin();
  if (level == reach.levels.size()) {
    mask->write(out);
    return true;
  }
  if (reach.masks[level].empty()) {
    reach.masks[level] = words_within(reach, reach.levels[level]);
    ++num_masks_;
  }
  copy_mask(reach.masks[level], out);
  return false;
}

Reach MasksWithin::find(const MaskPointer& mask, const NumberedConfiguration& at, int32_t cost,
                        std::span<const FirstToken> first) {
  Reach found(mask, budget_);
  for (const bool whole : {true, false}) {
    ReachWalk walker(context_, whole, distances_, found.runs);
    walk_places(whole ? vocabulary_.whole() : vocabulary_.partial(),
                Place{at.state, at.top, context_.stacks.num_kept()}, walker, budget_);
  }
  for (Reach::Run& run : found.runs) {
    run.distance -= cost;
    found.levels.push_back(run.distance);
  }
  for (const FirstToken& own : first) {
    const bool is_allowed = own.target.state != kDead;
    found.first.push_back(
        {own.token, is_allowed ? distances_.distance(own.target.state, own.target.top) - cost : kFar});
    if (is_allowed) found.levels.push_back(found.first.back().distance);
  }
  std::ranges::sort(found.levels);
  found.levels.erase(std::unique(found.levels.begin(), found.levels.end()), found.levels.end());
  found.masks.resize(found.levels.size());
  return found;
}

Words MasksWithin::words_within(const Reach& reach, int32_t limit) const {
  Words words(vocabulary_.num_words());
  if (reach.mask->is_final) std::ranges::copy(vocabulary_.eos_words(), words.begin());
  for (const Reach::Run& run : reach.runs) {
    if (run.distance >= limit) continue;
    for (int32_t rank = run.first; rank < run.end; ++rank) {
      support::set_bit(words, static_cast<uint32_t>(vocabulary_.token_of_rank()[rank]));
    }
  }
  for (const Reach::First& own : reach.first) {
    const auto token = static_cast<uint32_t>(own.token);
    if (support::has_bit(words, token) != (own.distance < limit)) support::flip_bit(words, token);
  }
  return words;
}

}  // namespace tokenfst
