#include "automata/word_list.h"

#include <algorithm>

#include "automata/canonical.h"
#include "automata/intervals.h"
#include "support/interner.h"

namespace automata {

namespace {

class Builder {
 public:
  explicit Builder(Budget& budget)
      : register_(budget),
        path_(budget),
        begins_(1, 0, budget),
        ends_(1, false, budget),
        budget_(budget) {}

  void add(std::span<const uint8_t> word, size_t shared) {
    finish_below(shared);
    for (uint8_t byte : word.subspan(shared)) {
      path_.push_back({byte, kNone});
      begins_.push_back(static_cast<int32_t>(path_.size()));
      ends_.push_back(false);
    }
    ends_.back() = true;
    budget_.spend(16 * static_cast<int64_t>(word.size() - shared) + 1);
  }
  // Return the start state, once all words have been added.
  int32_t finish() {
    finish_below(0);
    return finished_top();
  }
  const support::Interner<OutArc>& states() const { return register_; }

 private:
  size_t depth() const { return ends_.size() - 1; }

  void finish_below(size_t depth_kept) {
    while (depth() > depth_kept) {
      const int32_t state = finished_top();
      path_.resize(begins_.back());
      begins_.pop_back();
      ends_.pop_back();
      path_.back().target = state;
    }
  }
  // Return the number of the deepest state of the path, whose arcs lead to finished states.
  int32_t finished_top() {
    register_.discard();
    register_.push({ends_.back() ? 1 : 0, kNone});
    for (size_t arc = begins_.back(); arc < path_.size(); ++arc) register_.push(path_[arc]);
    return register_.close().number;
  }

  support::Interner<OutArc> register_;
  Vector<OutArc> path_;     // the arcs of the path's states, state by state, the deepest last
  Vector<int32_t> begins_;  // where the arcs of each state of the path begin
  Vector<uint8_t> ends_;    // whether each state of the path is final
  Budget& budget_;
};

}  // namespace

ByteTables word_list(std::span<const uint8_t> text, std::span<const int64_t> offsets, int64_t dense_bytes,
                     Budget& budget) {
  Builder builder(budget);
  std::span<const uint8_t> before;
  for (size_t string = 0; string + 1 < offsets.size(); ++string) {
    const auto word = text.subspan(offsets[string], offsets[string + 1] - offsets[string]);
    const auto differ = std::ranges::mismatch(before, word);
    builder.add(word, differ.in1 - before.begin());
    before = word;
  }
  Minimal minimal{builder.finish(), Transitions(budget)};
  const auto& states = builder.states();
  bool occurs[257] = {};
  for (uint8_t byte : text.first(offsets.back())) occurs[byte] = true;
  int32_t interval_of[256] = {};
  for (int32_t byte = 1; byte < 256; ++byte)
    interval_of[byte] = interval_of[byte - 1] + (occurs[byte] || occurs[byte - 1]);
  for (int32_t state = 0; state < states.size(); ++state) {
    const auto entries = states[state];
    minimal.automaton.final.push_back(entries[0].symbol != 0);
    for (const OutArc& entry : entries.subspan(1)) {
      minimal.automaton.arcs.push_back({state, interval_of[entry.symbol], entry.target});
    }
    budget.spend(static_cast<int64_t>(entries.size()));
  }
  return tabulated(minimal, interval_of, 0, dense_bytes, budget);
}

}  // namespace automata
