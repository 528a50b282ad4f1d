#include "constraints/lists.h"

#include <algorithm>

#include "constraints/trees.h"
#include "support/interner.h"

namespace constraints {

namespace {

using automata::ByteArc;
using automata::ByteTables;

constexpr uint8_t kQuote = 0x22;
// The first states: a start and an end for the listed strings alone, otherwise those of the automaton of all spellings.
constexpr int32_t kStart = 0, kEnd = 1, kNumFixed = 2;

// Finished states. The first edge of a state has the base in place of a byte; a state without a base reads only its
// edges.
class StateRegister {
 public:
  StateRegister(const AllSpellings& every, bool besides, Budget& budget)
      : every_(every),
        besides_(besides),
        num_fixed_(besides ? every.tables().num_states() : kNumFixed),
        states_(budget),
        budget_(budget) {}

  // Return the state of a node of a tree, all of whose edges lead to states; an equal state is reused.
  int32_t enter(const SpellingTree& tree, int32_t node) {
    states_.discard();
    states_.push({besides_ ? tree.base(node) : kNone, kNone});
    tree.edges_of(node, [&](const ByteEdge& edge) { states_.push(edge); });
    budget_.spend(static_cast<int64_t>(states_.open().size()));
    return num_fixed_ + states_.close().number;
  }

  // Return the automaton whose start leads by a quote to the state `first`. Its arcs take ten times as much memory as
  // the stored states, so they are written only once, directly to their final place.
  ByteTables tables(int32_t first) const {
    Vector<int32_t> number(num_fixed_ + states_.size(), kNone, budget_), order(budget_);
    const auto reach = [&](int32_t state) {
      if (number[state] != kNone) return;
      number[state] = static_cast<int32_t>(order.size());
      order.push_back(state);
    };
    reach(kStart);
    size_t num_arcs = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      for_arcs(order[at], first, [&](const ByteArc& arc) { reach(arc.target), ++num_arcs; });
    }
    budget_.charge(sizeof(ByteArc) * num_arcs + 5 * order.size());
    ByteTables found;
    found.start = 0, found.is_sparse = true;
    found.arcs.reserve(num_arcs), found.offsets.reserve(order.size() + 1), found.final.reserve(order.size());
    for (int32_t state : order) {
      found.offsets.push_back(static_cast<int32_t>(found.arcs.size()));
      found.final.push_back(is_final(state));
      for_arcs(state, first,
               [&](const ByteArc& arc) { found.arcs.push_back({arc.low, arc.high, number[arc.target]}); });
    }
    found.offsets.push_back(static_cast<int32_t>(found.arcs.size()));
    return found;
  }

 private:
  bool is_final(int32_t state) const {
    if (!besides_) return state == kEnd;
    return state < num_fixed_ && every_.tables().final[state];
  }
  // Call `each` for the arcs of a state, as maximal runs.
  template <class Each>
  void for_arcs(int32_t state, int32_t first, Each each) const {
    if (state == kStart) return each(ByteArc{kQuote, kQuote, first});
    ByteArc last{0, 0, kNone};
    const auto add = [&](int32_t low, int32_t high, int32_t target) {
      if (low > high || target == kNone) return;
      if (target == last.target && last.high + 1 == low) {
        last.high = high;
      } else {
        if (last.target != kNone) each(last);
        last = {low, high, target};
      }
    };
    const bool is_fixed = state < num_fixed_;
    const auto own = is_fixed ? std::span<const ByteEdge>() : states_[state - num_fixed_];
    const int32_t base = !is_fixed ? own[0].byte : besides_ ? state : kNone;
    add_arcs(base, is_fixed ? own : own.subspan(1), add);
    if (last.target != kNone) each(last);
  }
  // Add the arcs of a base, except for the edges in which a state differs.
  template <class Add>
  void add_arcs(int32_t base, std::span<const ByteEdge> edges, Add add) const {
    auto edge = edges.begin();
    for (const ByteArc& arc : base == kNone ? std::span<const ByteArc>() : every_.arcs(base)) {
      int32_t low = arc.low;
      for (; edge != edges.end() && edge->byte <= arc.high; low = edge->byte + 1, ++edge) {
        add(low, edge->byte - 1, arc.target);
        add(edge->byte, edge->byte, edge->target);
      }
      add(low, arc.high, arc.target);
    }
    for (; edge != edges.end(); ++edge) add(edge->byte, edge->byte, edge->target);
    budget_.spend(8 + 2 * static_cast<int64_t>(edges.size()));
  }

  const AllSpellings& every_;
  const bool besides_;
  const int32_t num_fixed_;
  support::Interner<ByteEdge> states_;
  Budget& budget_;
};

// The strings added so far.
class ListBuilder {
 public:
  ListBuilder(const ByteTables& every, bool besides, Budget& budget)
      : every_(every, budget),
        besides_(besides),
        tree_(every_, budget),
        register_(every_, besides, budget),
        path_(budget),
        begins_(1, 0, budget),
        ends_(1, false, budget),
        budget_(budget) {}

  // Add a string that has `shared` characters in common with the last one.
  void add(std::span<const int32_t> codes, size_t shared) {
    finish_below(shared);
    for (int32_t code : codes.subspan(shared)) {
      path_.push_back({code, kNone});
      begins_.push_back(static_cast<int32_t>(path_.size()));
      ends_.push_back(false);
    }
    ends_.back() = true;
    budget_.spend(1 + 8 * static_cast<int64_t>(codes.size() - shared));
  }
  ByteTables finish() {
    finish_below(0);
    return register_.tables(finished_top());
  }

 private:
  struct Character {
    int32_t code, state;
  };

  void finish_below(size_t depth) {
    while (ends_.size() - 1 > depth) {
      const int32_t state = finished_top();
      path_.resize(begins_.back(), {});
      begins_.pop_back();
      ends_.pop_back();
      path_.back().state = state;
    }
  }
  // Return the state of the deepest prefix.
  int32_t finished_top() {
    tree_.clear();
    if (ends_.back()) tree_.add_byte(kQuote, besides_ ? kNone : kEnd);
    for (size_t at = begins_.back(); at < path_.size(); ++at) tree_.add_character(path_[at].code, path_[at].state);
    int32_t state = kNone;
    for (int32_t node = tree_.num_nodes(); node-- > 0;) {
      state = register_.enter(tree_, node);
      tree_.enter(node, state);
    }
    return state;
  }

  const AllSpellings every_;
  const bool besides_;
  SpellingTree tree_;
  StateRegister register_;
  Vector<Character> path_;
  Vector<int32_t> begins_;  // where the characters after each prefix begin
  Vector<uint8_t> ends_;    // whether each prefix is a string of the list
  Budget& budget_;
};

ByteTables list(const Strings& strings, const ByteTables& every, bool besides, Budget& budget) {
  ListBuilder found(every, besides, budget);
  std::span<const int32_t> before;
  for (size_t string = 0; string < strings.size(); ++string) {
    const auto differ = std::ranges::mismatch(before, strings[string]);
    found.add(strings[string], static_cast<size_t>(differ.in1 - before.begin()));
    before = strings[string];
  }
  return found.finish();
}

}  // namespace

ByteTables spellings_of(const Strings& strings, const ByteTables& every, Budget& budget) {
  return list(strings, every, false, budget);
}

ByteTables spellings_besides(const Strings& strings, const ByteTables& every, Budget& budget) {
  return list(strings, every, true, budget);
}

}  // namespace constraints
