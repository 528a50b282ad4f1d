#include "automata/weighted/weighted_product.h"

#include <algorithm>

#include "support/value_interner.h"

namespace automata {

namespace {

struct Pair {
  int32_t left, right;
  bool operator==(const Pair&) const = default;
};

class PairConstruction {
 public:
  PairConstruction(const WeightedOperand& left, const WeightedOperand& right, bool is_difference, Budget& budget)
      : left_(left),
        right_(right),
        is_difference_(is_difference),
        pairs_(budget),
        found_(budget),
        budget_(budget) {
    found_.initial = sum(left.tables.initial, is_difference ? 0 : right.tables.initial);
    pairs_.intern({0, 0});
  }

  WeightedBuilder run(int64_t max_states) {
    for (int32_t state = 0; state < pairs_.size(); ++state) {
      support::require_at_most(pairs_.size(), max_states);
      const Pair pair = pairs_[state];
      bytes(pair);
      labels(pair);
      found_.close(final(pair));
      budget_.spend(8);
    }
    return std::move(found_);
  }

 private:
  Cost final(const Pair& pair) const {
    const Cost left = left_.tables.final[pair.left];
    const Cost right = pair.right == kNone ? kInfinite : right_.tables.final[pair.right];
    if (is_difference_) return right == kInfinite ? left : kInfinite;
    return left == kInfinite || right == kInfinite ? kInfinite : sum(left, right);
  }

  // Add the arc that two arcs make, the right one -1 for none.
  void add(int32_t low, int32_t high, int32_t left, int32_t right) {
    if (right < 0 && !is_difference_) return;
    const int32_t target = right < 0 ? kNone : right_.tables.arcs[right].target;
    const Cost more = right < 0 || is_difference_ ? 0 : right_.tables.cost[right];
    const int32_t number = pairs_.intern({left_.tables.arcs[left].target, target}).number;
    found_.add({low, high, number}, sum(left_.tables.cost[left], more));
  }

  void bytes(const Pair& pair) {
    const std::span<const int32_t> lefts = left_.tables.offsets, rights = right_.tables.offsets;
    int32_t right = pair.right == kNone ? 0 : rights[pair.right];
    const int32_t end = pair.right == kNone ? 0 : rights[pair.right + 1];
    for (int32_t left = lefts[pair.left]; left < lefts[pair.left + 1]; ++left) {
      const ByteArc& arc = left_.tables.arcs[left];
      if (arc.low >= kFirstLabel) break;
      for (int32_t low = arc.low, high; low <= arc.high; low = high + 1) {
        while (right < end && right_.tables.arcs[right].high < low) ++right;
        const ByteArc* const other = right < end ? &right_.tables.arcs[right] : nullptr;
        const bool is_over = other && other->low <= low;
        high = std::min(arc.high, is_over ? other->high : other ? other->low - 1 : arc.high);
        add(low, high, left, is_over ? right : -1);
      }
    }
  }

  void labels(const Pair& pair) {
    for (size_t label = 0; label < left_.label_of.size(); ++label) {
      const auto symbol = static_cast<int32_t>(kFirstLabel + label);
      const int32_t left = arc_of(left_, pair.left, label), right = arc_of(right_, pair.right, label);
      if (left >= 0) add(symbol, symbol, left, right);
    }
  }
  static int32_t arc_of(const WeightedOperand& side, int32_t state, size_t label) {
    if (state == kNone || side.label_of[label] == kNone) return -1;
    return side.tables.find(state, kFirstLabel + side.label_of[label]);
  }

  const WeightedOperand &left_, &right_;
  const bool is_difference_;
  support::ValueInterner<Pair> pairs_;
  WeightedBuilder found_;
  Budget& budget_;
};

}  // namespace

WeightedBuilder weighted_product(const WeightedOperand& left, const WeightedOperand& right, bool is_difference,
                                 int64_t max_states, Budget& budget) {
  return PairConstruction(left, right, is_difference, budget).run(max_states);
}

}  // namespace automata
