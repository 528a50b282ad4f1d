#include "tokenfst/canonical/pairs.h"

#include <numeric>
#include <tuple>

#include "support/csr.h"

namespace tokenfst::canonical {

namespace {

using support::Groups;
using DerivationSpan = std::span<const Derivation>;

// Return all tokens, sorted by a key.
template <class Key>
Vector<int32_t> ordered_by(DerivationSpan tokens, Key key, Budget& budget) {
  Vector<int32_t> order(tokens.size(), budget);
  std::iota(order.begin(), order.end(), 0);
  budget.spend(16 * static_cast<int64_t>(tokens.size()));
  std::ranges::stable_sort(order, {}, key);
  return order;
}

// Return the tokens that a merge makes, grouped by their left half, in the given order.
Groups by_left(DerivationSpan tokens, const Vector<int32_t>& order, Budget& budget) {
  Vector<int32_t> merged(budget);
  for (int32_t token : order) {
    if (tokens[token].left != kNoToken) merged.push_back(token);
  }
  Groups found = support::grouped(
      static_cast<int32_t>(tokens.size()), merged.size(), [&](size_t at) { return tokens[merged[at]].left; }, budget);
  for (int32_t& place : found.order) place = merged[place];
  return found;
}

// The depth-first order of tokens; one past the last position below each.
struct DepthFirst {
  std::vector<int32_t> position, token_at;
  Vector<int32_t> end;
};

// Return siblings by clock, descending; for one clock, first those whose right half is made at that clock as well.
Groups children(DerivationSpan tokens, Budget& budget) {
  const auto key = [&](int32_t token) {
    const Derivation& own = tokens[token];
    const int32_t parent = own.left == kNoToken ? -1 : tokens[own.left].clock;
    const bool is_late = own.left != kNoToken && own.clock == parent && tokens[own.right].clock < parent;
    return std::tuple(-int64_t{own.clock}, is_late, -int64_t{own.rank});
  };
  return by_left(tokens, ordered_by(tokens, key, budget), budget);
}

// Extend the end of each token to those of all tokens below it.
void lengthen(DerivationSpan tokens, DepthFirst& order) {
  for (size_t at = order.token_at.size(); at-- > 0;) {
    const int32_t token = order.token_at[at], parent = tokens[token].left;
    if (parent != kNoToken) order.end[parent] = std::max(order.end[parent], order.end[token]);
  }
}

DepthFirst depth_first(DerivationSpan tokens, Budget& budget) {
  const auto num_tokens = static_cast<int32_t>(tokens.size());
  const Groups below = children(tokens, budget);
  DepthFirst found{std::vector<int32_t>(tokens.size()), {}, Vector<int32_t>(tokens.size(), 0, budget)};
  const auto place = [&](int32_t token) {
    found.position[token] = static_cast<int32_t>(found.token_at.size());
    found.token_at.push_back(token);
    found.end[token] = static_cast<int32_t>(found.token_at.size());
  };
  Vector<int32_t> waiting(budget);
  for (int32_t root = 0; root < num_tokens; ++root) {
    if (tokens[root].made && tokens[root].left == kNoToken) waiting.push_back(root);
    while (!waiting.empty()) {
      const int32_t token = waiting.back();
      waiting.pop_back();
      place(token);
      const auto own = below[token];
      waiting.insert(waiting.end(), own.rbegin(), own.rend());
    }
  }
  lengthen(tokens, found);
  for (int32_t token = 0; token < num_tokens; ++token) {
    if (!tokens[token].made) place(token);
  }
  budget.spend(4 * static_cast<int64_t>(tokens.size()));
  return found;
}

// Finds the tokens that must not follow, from merges grouped by their left half, in an order in which a loop can stop
// at the first merge that comes too late.
class Blocking {
 public:
  Blocking(DerivationSpan tokens, const DepthFirst& order, Budget& budget)
      : tokens_(tokens),
        order_(order),
        merges_(merges_of(tokens, budget)),
        stop_(tokens.size(), 0, budget),
        found_(budget) {
    for (size_t merged = 0; merged < tokens.size(); ++merged) {
      if (tokens[merged].left == kNoToken) continue;
      stop_[merged] = stop(tokens[merged]);
      budget.spend(1 + static_cast<int64_t>(merges_[tokens[merged].right].size()));
    }
  }

  // Return the intervals of a token, with touching ones joined; valid until the next call.
  std::span<const Interval> after(int32_t token, Budget& budget) {
    found_.clear();
    const Derivation* whole = nullptr;
    for (int32_t part = token; part != kNoToken; whole = &tokens_[part], part = tokens_[part].right) {
      for (int32_t merged : merges_[part]) {
        if (whole && !comes_before(tokens_[merged], *whole, tokens_[part])) break;
        found_.push_back({order_.position[tokens_[merged].right], stop_[merged]});
      }
    }
    budget.spend(1 + 4 * static_cast<int64_t>(found_.size()));
    std::ranges::sort(found_, {}, [](const Interval& one) { return std::pair(one.first, one.end); });
    join();
    return found_;
  }

 private:
  static Groups merges_of(DerivationSpan tokens, Budget& budget) {
    const auto key = [&](int32_t token) {
      const Derivation& own = tokens[token];
      const bool is_merged = own.left != kNoToken;
      const bool is_late = is_merged && tokens[own.right].clock == tokens[own.left].clock;
      return std::tuple(own.clock, is_late, own.rank);
    };
    return by_left(tokens, ordered_by(tokens, key, budget), budget);
  }
  // Return one past the last position of the tokens from which a merge may take its right half.
  int32_t stop(const Derivation& merged) const {
    const Derivation& part = tokens_[merged.right];
    int32_t found = order_.position[merged.right] + 1;
    for (int32_t other_token : merges_[merged.right]) {
      const Derivation& other = tokens_[other_token];
      const bool tie = other.clock == merged.clock;
      const bool by_rank = tie && merged.clock == part.clock && tokens_[other.right].clock < part.clock;
      const bool keeps = by_rank ? merged.rank <= other.rank : tie || other.clock > merged.clock;
      if (keeps) found = std::max(found, order_.end[other_token]);
    }
    return found;
  }
  // Return whether a merge that takes a part comes before the merge that makes the whole of it.
  bool comes_before(const Derivation& merged, const Derivation& whole, const Derivation& part) const {
    const bool tie = merged.clock == whole.clock && whole.clock == part.clock;
    const bool by_rank = tie && tokens_[merged.right].clock < part.clock;
    return merged.clock < whole.clock || (by_rank && merged.rank < whole.rank);
  }
  void join() {
    size_t count = 0;
    for (const Interval& interval : found_) {
      if (count > 0 && interval.first <= found_[count - 1].end) {
        found_[count - 1].end = std::max(found_[count - 1].end, interval.end);
      } else {
        found_[count++] = interval;
      }
    }
    found_.resize(count, {});
  }

  const DerivationSpan tokens_;
  const DepthFirst& order_;
  const Groups merges_;
  Vector<int32_t> stop_;
  Vector<Interval> found_;
};

}  // namespace

Pairs pairs(DerivationSpan derivations, Budget& budget) {
  DepthFirst order = depth_first(derivations, budget);
  Blocking blocking(derivations, order, budget);
  Vector<Interval> all(budget);
  Pairs found;
  budget.charge(16 * derivations.size());
  found.offsets.reserve(derivations.size() + 1);
  for (int32_t token = 0; token < static_cast<int32_t>(derivations.size()); ++token) {
    found.offsets.push_back(static_cast<int64_t>(all.size()));
    if (!derivations[token].made) continue;
    const auto own = blocking.after(token, budget);
    all.insert(all.end(), own.begin(), own.end());
  }
  found.offsets.push_back(static_cast<int64_t>(all.size()));
  found.intervals = support::charged_copy(all, budget);
  found.position = std::move(order.position), found.token_at = std::move(order.token_at);
  return found;
}

}  // namespace tokenfst::canonical
