#include "automata/product.h"

#include <algorithm>

#include "automata/canonical.h"
#include "automata/intervals.h"
#include "support/value_interner.h"

namespace automata {

namespace {

struct Pair {
  int32_t left, right;
  bool operator==(const Pair&) const = default;
};

int32_t label_target(const Operand& operand, int32_t state, int32_t label) {
  if (state == kNone || operand.label_of[label] == kNone) return kNone;
  return operand.tables.label_target(state, operand.label_of[label]);
}

// The reachable pairs of states, and the arcs between them.
class PairConstruction {
 public:
  PairConstruction(const Operand& left, const Operand& right, Operation operation, Budget& budget)
      : final(budget),
        ranges(budget),
        left_(left),
        right_(right),
        is_difference_(operation == Operation::kDifference),
        left_arcs_(left.tables, budget),
        right_arcs_(right.tables, budget),
        pairs_(budget),
        budget_(budget) {
    number({left.tables.start, right.tables.start});
  }

  void expand_all(int64_t max_states) {
    for (int32_t state = 0; state < pairs_.size(); ++state) {
      support::require_at_most(pairs_.size(), max_states);
      expand(state);
    }
  }

  Vector<uint8_t> final;
  Vector<Range> ranges;

 private:
  int32_t number(Pair pair) { return pairs_.intern(pair).number; }
  bool is_kept(int32_t right) const { return is_difference_ || right != kNone; }

  void expand(int32_t state) {
    const Pair pair = pairs_[state];
    const bool right_ends = pair.right != kNone && right_.tables.final[pair.right];
    final.push_back(left_.tables.final[pair.left] && right_ends != is_difference_);
    const auto lefts = left_arcs_[pair.left];
    const auto rights = pair.right == kNone ? std::span<const ByteArc>() : right_arcs_[pair.right];
    auto right = rights.begin();
    for (const ByteArc& left : lefts) {
      for (int32_t low = left.low, high; low <= left.high; low = high + 1) {
        while (right != rights.end() && right->high < low) ++right;
        // The right state's arc over `low`, or none, and the last byte for which that holds.
        int32_t other = kNone;
        high = left.high;
        if (right != rights.end() && right->low <= low) {
          other = right->target, high = std::min(high, right->high);
        } else if (right != rights.end()) {
          high = std::min(high, right->low - 1);
        }
        if (is_kept(other)) ranges.push_back({state, low, high, number({left.target, other})});
      }
    }
    for (int32_t label = 0; label < static_cast<int32_t>(left_.label_of.size()); ++label) {
      const int32_t target = label_target(left_, pair.left, label), other = label_target(right_, pair.right, label);
      if (target == kNone || !is_kept(other)) continue;
      ranges.push_back({state, kFirstLabel + label, kFirstLabel + label, number({target, other})});
    }
    budget_.spend(8 + 8 * static_cast<int64_t>(lefts.size() + rights.size()));
  }

  const Operand &left_, &right_;
  const bool is_difference_;
  const ArcsByState left_arcs_, right_arcs_;
  support::ValueInterner<Pair> pairs_;
  Budget& budget_;
};

}  // namespace

ByteTables product(const Operand& left, const Operand& right, Operation operation, int64_t max_states,
                   int64_t dense_bytes, Budget& budget) {
  const auto num_labels = static_cast<int32_t>(left.label_of.size());
  Transitions pairs(budget);
  Vector<int32_t> interval_of(budget);
  {
    PairConstruction product(left, right, operation, budget);
    product.expand_all(max_states);
    Intervals over = over_intervals(product.ranges, num_labels, budget);
    pairs.final = std::move(product.final), pairs.arcs = std::move(over.arcs);
    interval_of = std::move(over.of);
  }
  return tabulated(minimize(pairs, budget), interval_of, num_labels, dense_bytes, budget);
}

}  // namespace automata
