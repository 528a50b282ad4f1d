#include "tokenfst/canonical/derivations.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "support/hash.h"

namespace tokenfst::canonical {

namespace {

using Bytes = std::span<const uint8_t>;

size_t slots_for(size_t count) {
  size_t slots = 64;
  while (slots < 2 * count) slots *= 2;
  return slots;
}

// Tokens by their bytes; of equal tokens the first.
class TokenIndex {
 public:
  TokenIndex(const Vocabulary& vocabulary, Budget& budget)
      : vocabulary_(vocabulary),
        slots_(slots_for(static_cast<size_t>(vocabulary.size())), kNoToken, budget) {
    for (int32_t token = 0; token < vocabulary.size(); ++token) {
      if (vocabulary.token(token).empty()) continue;
      int32_t& slot = slots_[place(vocabulary.token(token))];
      if (slot == kNoToken) slot = token;
    }
    budget.spend(8 * int64_t{vocabulary.size()});
  }
  int32_t find(Bytes bytes) const { return slots_[place(bytes)]; }

 private:
  // Return where the token with these bytes is, or would be.
  size_t place(Bytes bytes) const {
    const size_t mask = slots_.size() - 1;
    size_t at = std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) & mask;
    while (slots_[at] != kNoToken && !std::ranges::equal(vocabulary_.token(slots_[at]), bytes)) at = (at + 1) & mask;
    return at;
  }

  const Vocabulary& vocabulary_;
  Vector<int32_t> slots_;
};

// The data for merging: the token that each pair of tokens makes, and when.
class Encoder {
 public:
  struct Made {
    int32_t rank, token;
  };

  Encoder(const Vocabulary& vocabulary, std::optional<std::span<const Merge>> merges, Budget& budget)
      : byte_token_(256, kNoToken, budget),
        slots_(budget) {
    for (int32_t token = vocabulary.size(); token-- > 0;) {
      if (vocabulary.token(token).size() == 1) byte_token_[vocabulary.token(token)[0]] = token;
    }
    if (merges) {
      slots_.resize(slots_for(merges->size()));
      // If a pair is listed twice, the last entry counts.
      for (size_t at = 0; at < merges->size(); ++at) put((*merges)[at], static_cast<int32_t>(at));
      budget.spend(8 * static_cast<int64_t>(merges->size()));
    } else {
      put_spelling(vocabulary, budget);
    }
  }

  int32_t byte_token(uint8_t byte) const { return byte_token_[byte]; }
  // Return the result of merging a pair, or nothing.
  const Made* find(int32_t left, int32_t right) const {
    const Slot& slot = slots_[place(left, right)];
    return slot.left == kNoToken ? nullptr : &slot.made;
  }

 private:
  struct Slot {
    int32_t left = kNoToken, right = kNoToken;
    Made made{};
  };

  // Add all pairs of tokens that spell a token; its id is their rank.
  void put_spelling(const Vocabulary& vocabulary, Budget& budget) {
    const TokenIndex index(vocabulary, budget);
    Vector<Merge> found(budget);
    for (int32_t token = 0; token < vocabulary.size(); ++token) {
      const Bytes bytes = vocabulary.token(token);
      if (bytes.empty() || index.find(bytes) != token) continue;
      for (size_t middle = 1; middle < bytes.size(); ++middle) {
        const int32_t left = index.find(bytes.first(middle));
        const int32_t right = left == kNoToken ? kNoToken : index.find(bytes.subspan(middle));
        if (right != kNoToken) found.push_back({left, right, token});
      }
      budget.spend(1 + 8 * static_cast<int64_t>(bytes.size()));
    }
    slots_.resize(slots_for(found.size()));
    for (const Merge& merge : found) put(merge, merge.result);
  }
  void put(const Merge& merge, int32_t rank) {
    slots_[place(merge.left, merge.right)] = {merge.left, merge.right, {rank, merge.result}};
  }
  size_t place(int32_t left, int32_t right) const {
    const size_t mask = slots_.size() - 1;
    const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
    size_t at = support::finished(support::mixed(0, key)) & mask;
    while (slots_[at].left != kNoToken && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask;
    return at;
  }

  Vector<int32_t> byte_token_;
  Vector<Slot> slots_;
};

// Runs the merges of one token after another.
class Merging {
 public:
  Merging(const Encoder& encoder, Budget& budget) : encoder_(encoder), symbols_(budget), merges_(budget) {}

  Derivation derive(Bytes bytes, int32_t token) {
    Derivation found;
    if (!begin(bytes)) return found;
    for (size_t best = next(); best < merges_.size(); best = next()) {
      const Encoder::Made merge = *merges_[best];
      found = {symbols_[best], symbols_[best + 1], merge.rank, std::max(found.clock, merge.rank), false};
      join(best, merge.token);
    }
    if (symbols_.size() != 1 || symbols_[0] != token) return Derivation();
    found.made = true;
    return found;
  }

 private:
  // Begin with single bytes; return whether there is a token for each.
  bool begin(Bytes bytes) {
    symbols_.clear();
    for (uint8_t byte : bytes) symbols_.push_back(encoder_.byte_token(byte));
    if (bytes.empty() || std::ranges::find(symbols_, kNoToken) != symbols_.end()) return false;
    merges_.clear();
    for (size_t at = 0; at + 1 < symbols_.size(); ++at) merges_.push_back(merge_at(at));
    return true;
  }
  const Encoder::Made* merge_at(size_t at) const { return encoder_.find(symbols_[at], symbols_[at + 1]); }
  // Return the place of the next merge: the one with the least rank, and of these the leftmost; the number of places if
  // there is none.
  size_t next() const {
    size_t best = merges_.size();
    for (size_t at = 0; at < merges_.size(); ++at) {
      if (merges_[at] && (best == merges_.size() || merges_[at]->rank < merges_[best]->rank)) best = at;
    }
    return best;
  }
  void join(size_t at, int32_t token) {
    const auto place = static_cast<std::ptrdiff_t>(at);
    symbols_[at] = token;
    symbols_.erase(symbols_.begin() + place + 1);
    merges_.erase(merges_.begin() + place);
    if (at > 0) merges_[at - 1] = merge_at(at - 1);
    if (at < merges_.size()) merges_[at] = merge_at(at);
  }

  const Encoder& encoder_;
  Vector<int32_t> symbols_;
  Vector<const Encoder::Made*> merges_;  // between each two symbols, or nothing
};

}  // namespace

size_t first_wrong(const Vocabulary& vocabulary, std::span<const Merge> merges) {
  const auto is_right = [&](const Merge& merge) {
    const Bytes left = vocabulary.token(merge.left), right = vocabulary.token(merge.right);
    const Bytes result = vocabulary.token(merge.result);
    return !left.empty() && !right.empty() && result.size() == left.size() + right.size() &&
           std::ranges::equal(result.first(left.size()), left) &&
           std::ranges::equal(result.subspan(left.size()), right);
  };
  return static_cast<size_t>(std::ranges::find_if_not(merges, is_right) - merges.begin());
}

std::vector<Derivation> derivations(const Vocabulary& vocabulary, std::optional<std::span<const Merge>> merges,
                                    Budget& budget) {
  const Encoder encoder(vocabulary, merges, budget);
  Merging merging(encoder, budget);
  std::vector<Derivation> found;
  budget.charge(sizeof(Derivation) * static_cast<size_t>(vocabulary.size()));
  found.reserve(static_cast<size_t>(vocabulary.size()));
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const auto size = static_cast<int64_t>(vocabulary.token(token).size());
    budget.spend(1 + size * size);
    found.push_back(merging.derive(vocabulary.token(token), token));
  }
  return found;
}

}  // namespace tokenfst::canonical
