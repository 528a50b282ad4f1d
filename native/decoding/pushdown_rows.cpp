#include "decoding/pushdown_rows.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "decoding/layout.h"
#include "support/interner.h"
#include "tokenfst/classes.h"

namespace decoding {

namespace {

using support::Budget;
using support::Vector;
using Tables = tokenfst::PushdownTables;

// How much room moves need, in free symbols above the stack, as ranks of all such numbers: rank 0 is no room.
struct Needs {
  Vector<int32_t> room;     // by rank, ascending
  Vector<int32_t> rank_of;  // [M]
};

Needs needs_of(const Tables& tables, Budget& budget) {
  Needs needs{Vector<int32_t>(1, 0, budget), Vector<int32_t>(budget)};
  needs.rank_of.reserve(tables.moves.size());
  for (const Tables::Move& move : tables.moves) {
    // What has been popped is free again; pushes need room whatever follows.
    const auto pushed = static_cast<int32_t>(tables.pushed(move.push).size());
    needs.rank_of.push_back(std::max(std::max(move.room, pushed) - move.pops, 0));
  }
  needs.room.insert(needs.room.end(), needs.rank_of.begin(), needs.rank_of.end());
  std::ranges::sort(needs.room);
  const auto repeated = std::ranges::unique(needs.room);
  needs.room.erase(repeated.begin(), repeated.end());
  for (int32_t& need : needs.rank_of) {
    need = static_cast<int32_t>(std::ranges::lower_bound(needs.room, need) - needs.room.begin());
  }
  budget.spend(32 * static_cast<int64_t>(needs.rank_of.size()));
  return needs;
}

// Families of rows, each stored once. The first two are those of the rows `kDead` and `kEnded`.
class Families {
 public:
  explicit Families(Budget& budget) : families_(budget), first_(budget) {
    families_.close();
    families_.push({tokenfst::kEnd, kUnknownOutcome, 0});
    families_.close();
    for (int32_t row : {kDead, kEnded, kEnded + 1}) first_.push_back(row);
  }

  void push(const RowEdge& edge) { families_.push(edge); }
  // Return the first row of the family that has been written, which has some rows; `kDead` if it has none.
  int32_t close(int32_t num_rows) {
    const auto [number, is_new] = families_.close();
    if (is_new) first_.push_back(first_.back() + num_rows);
    return first_[number];
  }
  // `after_end` is the outcome of the end token after the end.
  void finish(int32_t after_end, PushdownRows& found, Budget& budget) const {
    const auto size = static_cast<size_t>(families_.num_values());
    budget.charge(sizeof(RowEdge) * size + 2 * sizeof(int32_t) * first_.size());
    found.first.assign(first_.begin(), first_.end());
    found.edges.reserve(size);
    found.offsets.push_back(0);
    for (int32_t family = 0; family < families_.size(); ++family) {
      const auto own = families_[family];
      found.edges.insert(found.edges.end(), own.begin(), own.end());
      found.offsets.push_back(static_cast<int32_t>(found.edges.size()));
      budget.spend(static_cast<int64_t>(own.size()) + 1);
    }
    found.edges[found.offsets[kEnded]].outcome = after_end;
  }

 private:
  static constexpr int32_t kUnknownOutcome = -1;

  support::Interner<RowEdge> families_;
  Vector<int32_t> first_;
};

// Makes the rows of all nodes.
class Maker {
 public:
  Maker(const Tables& tables, int32_t times, Budget& budget)
      : tables_(tables),
        times_(times),
        budget_(budget),
        needs_(needs_of(tables, budget)),
        families_(budget),
        outcomes_(budget),
        seen_(needs_.room.size(), kUnseen, budget),
        level_(needs_.room.size(), 0, budget),
        ranks_(budget),
        moves_(budget),
        rows_at_(budget),
        cuts_at_(budget),
        num_cuts_(budget),
        node_rows_(budget),
        cuts_(budget) {}

  void make() {
    for (int32_t node = 0; node < tables_.num_nodes(); ++node) {
      find_ranks(node);
      rows_at_.push_back(static_cast<int32_t>(node_rows_.size()));
      cuts_at_.push_back(static_cast<int32_t>(cuts_.size()));
      if (ranks_.empty() || ranks_.front() > 0) node_rows_.push_back(kDead);
      if (times_ == 1) {
        add_family(node);
      } else {
        for (int32_t rank : ranks_) node_rows_.push_back(row_of(node, rank));
      }
      for (int32_t rank : ranks_) {
        if (rank > 0) cuts_.push_back(needs_.room[rank]);
      }
      num_cuts_.push_back(static_cast<int32_t>(cuts_.size()) - cuts_at_.back());
    }
  }
  PushdownRows finish() const {
    PushdownRows found{.rows_at = support::charged_copy(rows_at_, budget_),
                       .cuts_at = support::charged_copy(cuts_at_, budget_),
                       .num_cuts = support::charged_copy(num_cuts_, budget_),
                       .node_rows = support::charged_copy(node_rows_, budget_),
                       .cuts = support::charged_copy(cuts_, budget_),
                       .offsets = {},
                       .first = {},
                       .edges = {},
                       .outcomes = outcomes(),
                       .times = times_,
                       .parts = 1,
                       .at_once = 1};
    families_.finish(static_cast<int32_t>(found.outcomes.size()) / times_ + 1, found, budget_);
    return found;
  }

 private:
  static constexpr int32_t kUnseen = -1;

  // Find the ranks of the moves of a node, ascending, and the level of each.
  void find_ranks(int32_t node) {
    ranks_.clear();
    for (const Tables::Edge& edge : tables_.edges_of(node)) {
      const int32_t end = tables_.outcome_offsets[edge.outcome + 1];
      for (int32_t move = tables_.outcome_offsets[edge.outcome]; move < end; ++move) {
        const int32_t rank = needs_.rank_of[move];
        if (std::exchange(seen_[rank], node) != node) ranks_.push_back(rank);
      }
    }
    std::ranges::sort(ranks_);
    for (size_t level = 0; level < ranks_.size(); ++level) level_[ranks_[level]] = static_cast<int32_t>(level);
    budget_.spend(4 * static_cast<int64_t>(tables_.edges_of(node).size()) + 8 * static_cast<int64_t>(ranks_.size()) +
                  8);
  }

  // Add the family of a node whose outcomes are single moves.
  void add_family(int32_t node) {
    if (ranks_.empty()) return;
    for (const Tables::Edge& edge : tables_.edges_of(node)) {
      const int32_t move = tables_.outcome_offsets[edge.outcome];
      families_.push({edge.number, move, level_[needs_.rank_of[move]]});
    }
    const auto num_rows = static_cast<int32_t>(ranks_.size()), first = families_.close(num_rows);
    for (int32_t level = 0; level < num_rows; ++level) node_rows_.push_back(first + level);
    budget_.spend(4 * static_cast<int64_t>(tables_.edges_of(node).size()));
  }

  // Return the row of a node with room for the moves up to a rank.
  int32_t row_of(int32_t node, int32_t most) {
    for (const Tables::Edge& edge : tables_.edges_of(node)) {
      moves_.clear();
      for (int32_t move = tables_.outcome_offsets[edge.outcome]; move < tables_.outcome_offsets[edge.outcome + 1];
           ++move) {
        if (needs_.rank_of[move] <= most) moves_.push_back(move);
      }
      if (!moves_.empty()) families_.push({edge.number, outcome_of(moves_), 0});
      budget_.spend(8 * static_cast<int64_t>(moves_.size()) + 8);
    }
    return families_.close(1);
  }
  int32_t outcome_of(Vector<int32_t>& moves) {
    std::ranges::sort(moves);
    const auto repeated = std::ranges::unique(moves);
    return outcomes_.intern({moves.begin(), repeated.begin()}).number;
  }

  // Return the moves of all outcomes.
  std::vector<int32_t> outcomes() const {
    const auto num_moves = static_cast<int32_t>(tables_.moves.size());
    const int32_t count = times_ == 1 ? num_moves : outcomes_.size();
    const auto size = static_cast<size_t>(count) * static_cast<size_t>(times_);
    budget_.charge(sizeof(int32_t) * size);
    std::vector<int32_t> found(size, num_moves);
    if (times_ == 1) std::iota(found.begin(), found.end(), 0);
    for (int32_t outcome = 0; times_ > 1 && outcome < count; ++outcome) {
      std::ranges::copy(outcomes_[outcome], found.begin() + static_cast<int64_t>(outcome) * times_);
    }
    budget_.spend(static_cast<int64_t>(size));
    return found;
  }

  const Tables& tables_;
  const int32_t times_;
  Budget& budget_;
  const Needs needs_;
  Families families_;
  support::Interner<int32_t> outcomes_;  // sets of moves, in an ambiguous automaton
  Vector<int32_t> seen_, level_;         // by rank
  Vector<int32_t> ranks_, moves_;        // of the node, of the edge
  Vector<int32_t> rows_at_, cuts_at_, num_cuts_, node_rows_, cuts_;
};

// Return the most that the nodes of one path weigh together, and 1 at least.
int32_t most_on_a_path(const Tables& tables, Vector<int32_t>& weights, Budget& budget) {
  const tokenfst::Depths depths = tokenfst::depths_of(tables);
  for (const int32_t node : std::views::reverse(depths.order)) {
    int32_t most = 0;
    const auto children = tables.children_of(node);
    for (const Tables::Child& child : children) most = std::max(most, weights[child.node]);
    weights[node] += most;
    budget.spend(2 * static_cast<int64_t>(children.size()) + 2);
  }
  return std::max(std::ranges::max(std::span(weights).first(tables.num_states)), 1);
}

}  // namespace

PushdownRows pushdown_rows(const Tables& tables, Budget& budget) {
  int32_t times = 1;
  for (int32_t outcome = 0; outcome < tables.num_outcomes(); ++outcome) {
    times = std::max(times, static_cast<int32_t>(tables.moves_of(outcome).size()));
  }
  Maker maker(tables, times, budget);
  maker.make();
  PushdownRows found = maker.finish();
  Vector<int32_t> has_rows(budget), most_moves(budget);
  for (int32_t node = 0; node < tables.num_nodes(); ++node) {
    int32_t most = 0;
    for (const Tables::Edge& edge : tables.edges_of(node)) {
      most = std::max(most, static_cast<int32_t>(tables.moves_of(edge.outcome).size()));
    }
    has_rows.push_back(most > 0), most_moves.push_back(most);
    budget.spend(static_cast<int64_t>(tables.edges_of(node).size()) + 2);
  }
  found.parts = most_on_a_path(tables, has_rows, budget);
  if (tables.max_configurations > 1) found.at_once = most_on_a_path(tables, most_moves, budget);
  return found;
}

}  // namespace decoding
