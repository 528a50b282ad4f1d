#include "tokenfst/canonical/cells.h"

#include <algorithm>

namespace tokenfst::canonical {

Cells::Cells(const CanonicalEdges& edges, Budget& budget)
    : edges_(edges),
      cells_(budget),
      of_edge_(edges.edges.size(), budget),
      of_state_(budget),
      begins_(1, 0, budget),
      least_(budget) {
  const auto& all = edges.edges;
  const support::Groups by_class =
      support::grouped(edges.num_classes(), all.size(), [&](size_t edge) { return all[edge].number; }, budget);
  const support::Groups by_state = support::grouped(
      edges.num_states(), all.size(), [&](size_t place) { return all[by_class.order[place]].target; }, budget);
  for (int32_t state = 0; state < edges.num_states(); ++state) {
    of_state_.push_back(size());
    for (int32_t place : by_state[state]) {
      const int32_t edge = by_class.order[place];
      if (of_state_.back() == size() || cells_.back().number != all[edge].number) {
        cells_.push_back({state, all[edge].number});
        begins_.push_back(begins_.back() + static_cast<int64_t>(edges.members_of(all[edge].number).size()));
      }
      of_edge_[edge] = size() - 1;
    }
    budget.spend(1 + static_cast<int64_t>(by_state[state].size()));
  }
  of_state_.push_back(size());
  least_.assign(static_cast<size_t>(begins_.back()), kNoEnd);
  budget.spend(begins_.back() / 4);
}

namespace {

using support::Groups;

// Return whether any of some ascending positions is in none of some intervals.
bool any_outside(std::span<const int32_t> positions, std::span<const Interval> intervals) {
  auto at = positions.begin();
  for (const Interval& interval : intervals) {
    if (std::lower_bound(at, positions.end(), interval.first) != at) return true;
    at = std::lower_bound(at, positions.end(), interval.end);
  }
  return at != positions.end();
}

// The edges by the cell that they lead to, with their sources; and states by the state after their split.
class Backwards {
 public:
  Backwards(const Cells& cells, const CanonicalEdges& edges, const CanonicalProduct& product, Budget& budget)
      : sources_(edges.edges.size(), budget),
        edges_(support::grouped(
            cells.size(), edges.edges.size(), [&](size_t edge) { return cells.of_edge(static_cast<int32_t>(edge)); },
            budget)),
        split_(budget),
        by_split_(split_states(product, budget)) {
    for (int32_t state = 0; state < edges.num_states(); ++state) {
      std::fill(sources_.begin() + edges.offsets[state], sources_.begin() + edges.offsets[state + 1], state);
    }
  }
  // Call `each` for the source of every edge to a cell.
  template <class Each>
  void for_sources(int32_t cell, Each each) const {
    for (int32_t edge : edges_[cell]) each(sources_[edge]);
  }
  size_t num_sources(int32_t cell) const { return edges_[cell].size(); }
  template <class Each>
  void for_split(int32_t state, Each each) const {
    for (int32_t place : by_split_[state]) each(split_[place]);
  }

 private:
  Groups split_states(const CanonicalProduct& product, Budget& budget) {
    for (int32_t state = 0; state < product.num_states(); ++state) {
      if (product.split[state] != kNone) split_.push_back(state);
    }
    return support::grouped(
        product.num_states(), split_.size(), [&](size_t at) { return product.split[split_[at]]; }, budget);
  }

  Vector<int32_t> sources_;
  const Groups edges_;
  Vector<int32_t> split_;  // the states with one
  const Groups by_split_;
};

// The search, in rounds: the runs with `done` tokens to go follow from the changes of the round before.
class LivenessSearch {
 public:
  LivenessSearch(Cells& cells, const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs,
                 int32_t closing, Budget& budget)
      : cells_(cells),
        edges_(edges),
        pairs_(pairs),
        backwards_(cells, edges, product, budget),
        done_(closing),
        free_(static_cast<size_t>(product.num_states()), kNoEnd, budget),
        newly_free_(budget),
        dirty_(budget),
        is_dirty_(static_cast<size_t>(product.num_states()), -1, budget),
        changed_(budget),
        is_changed_(static_cast<size_t>(cells.size()), -1, budget),
        positions_(budget),
        budget_(budget) {
    for (int32_t state = 0; state < product.num_states(); ++state) {
      if (!product.automaton.final[state]) continue;
      free_[state] = closing;
      newly_free_.push_back(state);
    }
  }

  int32_t run() {
    while (!newly_free_.empty() || !dirty_.empty()) {
      changed_.clear();
      for (int32_t state : newly_free_) free_runs(state);
      for (int32_t state : dirty_) {
        if (free_[state] > done_) follow(state);
      }
      look_back();
      ++done_;
    }
    return at_start();
  }

 private:
  // Return the number at the start of the text: after a boundary, or after a label, which needs none.
  int32_t at_start() const {
    int32_t best = free_[0];
    for (int32_t edge = edges_.offsets[0]; edge < edges_.offsets[1]; ++edge) {
      for (int32_t least : std::as_const(cells_).least(cells_.of_edge(edge))) {
        if (least != kNoEnd) best = std::min(best, least + 1);
      }
    }
    return best;
  }

  void change(int32_t cell) {
    if (is_changed_[cell] == done_) return;
    is_changed_[cell] = done_;
    changed_.push_back(cell);
  }

  // Update all runs in a state that has become free.
  void free_runs(int32_t state) {
    for (int32_t cell = cells_.first_of(state); cell < cells_.end_of(state); ++cell) {
      bool news = false;
      for (int32_t& least : cells_.least(cell)) {
        news |= least == kNoEnd;
        least = std::min(least, done_);
      }
      if (news) change(cell);
      budget_.spend(1 + static_cast<int64_t>(cells_.least(cell).size()) / 4);
    }
  }

  // Update the runs in a state that some token changed in the last round may follow.
  void follow(int32_t state) {
    note_positions(state);
    if (positions_.empty()) return;
    bool is_sorted = false;
    for (int32_t cell = cells_.first_of(state); cell < cells_.end_of(state); ++cell) {
      bool news = false;
      const auto tokens = cells_.tokens(cell);
      const auto least = cells_.least(cell);
      for (size_t at = 0; at < tokens.size(); ++at) {
        if (least[at] != kNoEnd || !any_may_follow(pairs_.after(tokens[at]), is_sorted)) continue;
        least[at] = done_;
        news = true;
      }
      if (news) change(cell);
      budget_.spend(1 + static_cast<int64_t>(tokens.size()));
    }
  }
  // Note the positions of the tokens by which a state leads to runs with one token less to go.
  void note_positions(int32_t state) {
    positions_.clear();
    for (int32_t edge = edges_.offsets[state]; edge < edges_.offsets[state + 1]; ++edge) {
      const int32_t cell = cells_.of_edge(edge);
      // A cell that also changes in this round has `is_changed_` at `done_`, but tokens at `done_ - 1`.
      if (is_changed_[cell] < done_ - 1) continue;
      const auto tokens = cells_.tokens(cell);
      const auto least = cells_.least(cell);
      for (size_t at = 0; at < tokens.size(); ++at) {
        if (least[at] == done_ - 1) positions_.push_back(pairs_.position[tokens[at]]);
      }
      budget_.spend(1 + static_cast<int64_t>(tokens.size()));
    }
  }
  // Return whether one of the positions is outside of the intervals of a token.
  bool any_may_follow(std::span<const Interval> intervals, bool& is_sorted) {
    // Trying a few is nearly always enough.
    for (size_t probe = 0; probe < 8; ++probe) {
      if (Pairs::is_outside(intervals, positions_[probe * positions_.size() >> 3])) return true;
    }
    if (!is_sorted) {
      std::ranges::sort(positions_);
      budget_.spend(8 * static_cast<int64_t>(positions_.size()));
      is_sorted = true;
    }
    budget_.spend(16 + 4 * static_cast<int64_t>(intervals.size()));
    return any_outside(positions_, intervals);
  }

  // Propagate the changes to states one token earlier.
  void look_back() {
    newly_free_.clear();
    dirty_.clear();
    for (int32_t cell : changed_) {
      backwards_.for_sources(cell, [&](int32_t state) {
        backwards_.for_split(state, [&](int32_t before) {
          if (free_[before] != kNoEnd) return;
          free_[before] = done_ + 1;
          newly_free_.push_back(before);
        });
        if (is_dirty_[state] == done_ + 1 || cells_.first_of(state) == cells_.end_of(state)) return;
        is_dirty_[state] = done_ + 1;
        dirty_.push_back(state);
      });
      budget_.spend(1 + 2 * static_cast<int64_t>(backwards_.num_sources(cell)));
    }
  }

  Cells& cells_;
  const CanonicalEdges& edges_;
  const Pairs& pairs_;
  const Backwards backwards_;
  int32_t done_;          // the number of tokens to go in this round
  Vector<int32_t> free_;  // [M]
  Vector<int32_t> newly_free_, dirty_, is_dirty_;
  Vector<int32_t> changed_, is_changed_;  // cells, and the last round in which each has changed
  Vector<int32_t> positions_;
  Budget& budget_;
};

}  // namespace

int32_t find_least(Cells& cells, const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs,
                   int32_t closing, Budget& budget) {
  return LivenessSearch(cells, edges, product, pairs, closing, budget).run();
}

}  // namespace tokenfst::canonical
