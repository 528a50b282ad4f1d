#include "automata/counted/register_distance.h"

#include <algorithm>

#include "automata/distance.h"

namespace automata {

namespace {

bool is_before(const RegisterPiece& left, const RegisterPiece& right) {
  return left.state != right.state ? left.state < right.state : left.low < right.low;
}

Vector<RegisterPiece> in_order(std::span<const RegisterPiece> pieces, Budget& budget) {
  Vector<RegisterPiece> found(pieces.begin(), pieces.end(), budget);
  budget.spend(16 * static_cast<int64_t>(pieces.size()));
  std::ranges::sort(found, is_before);
  return found;
}

class RegisterSearch {
 public:
  RegisterSearch(int32_t num_states, int32_t max_register, std::span<const GuardedEdge> edges, Budget& budget)
      : pieces(budget),
        edges_(edges.begin(), edges.end(), budget),
        free_(budget),
        budget_(budget) {
    free_.reserve(num_states);
    for (int32_t state = 0; state < num_states; ++state) free_.emplace_back(1, Interval{0, max_register}, budget);
    // The longest step comes first: it mostly takes everything that shorter ones would cut into pieces.
    std::ranges::stable_sort(edges_, std::ranges::greater(), &GuardedEdge::action);
  }

  // Return false if there are more pieces than `max_pieces`.
  bool run(std::span<const StateValues> goals, size_t max_pieces) {
    const support::Groups into = entering(static_cast<int32_t>(free_.size()), edges_, budget_);
    for (const StateValues& goal : goals) claim(goal, 0);
    for (size_t begin = 0; begin < pieces.size() && pieces.size() <= max_pieces;) {
      join_from(begin);
      const size_t end = pieces.size();
      for (size_t at = begin; at < end; ++at) {
        const RegisterPiece piece = pieces[at];
        for (int32_t e : into[piece.state]) {
          const auto [low, high] = before(edges_[e], piece.low, piece.high);
          if (low <= high) claim({edges_[e].source, low, high}, piece.distance + 1);
        }
      }
      begin = end;
    }
    return pieces.size() <= max_pieces;
  }

  Vector<RegisterPiece> pieces;

 private:
  // Give a distance to the values of an interval that have none yet.
  void claim(const StateValues& values, int32_t distance) {
    Vector<Interval>& own = free_[values.state];
    auto at = std::ranges::lower_bound(own, values.low, {}, &Interval::high);
    budget_.spend(4);
    while (at != own.end() && at->low <= values.high) {
      const Interval taken{std::max(at->low, values.low), std::min(at->high, values.high)};
      pieces.push_back({values.state, taken.low, taken.high, distance});
      const Interval left{at->low, taken.low - 1}, right{taken.high + 1, at->high};
      budget_.spend(2 + (own.end() - at) / 8);
      if (left.is_empty() && right.is_empty()) {
        at = own.erase(at);
      } else {
        *at = left.is_empty() ? right : left;
        if (!left.is_empty() && !right.is_empty()) at = own.insert(at + 1, right);
        ++at;
      }
    }
  }
  // Sort the pieces from `begin` on and join adjacent ones.
  void join_from(size_t begin) {
    std::sort(pieces.begin() + begin, pieces.end(), is_before);
    budget_.spend(8 * static_cast<int64_t>(pieces.size() - begin));
    size_t stop = begin;
    for (size_t at = begin; at < pieces.size(); ++at) {
      const RegisterPiece piece = pieces[at];
      if (stop > begin && pieces[stop - 1].state == piece.state && pieces[stop - 1].high + 1 == piece.low) {
        pieces[stop - 1].high = piece.high;
      } else {
        pieces[stop++] = piece;
      }
    }
    pieces.erase(pieces.begin() + stop, pieces.end());
  }

  Vector<GuardedEdge> edges_;
  Vector<Vector<Interval>> free_;  // by state: the values without a distance, ascending
  Budget& budget_;
};

}  // namespace

std::optional<Vector<RegisterPiece>> pieces_by_distance(int32_t num_states, int32_t max_register,
                                                        std::span<const GuardedEdge> edges,
                                                        std::span<const StateValues> goals, size_t max_pieces,
                                                        Budget& budget) {
  RegisterSearch search(num_states, max_register, edges, budget);
  if (!search.run(goals, max_pieces)) return std::nullopt;
  return std::move(search.pieces);
}

DistanceSteps distance_steps(int32_t num_states, int32_t max_register, std::span<const RegisterPiece> pieces,
                             Budget& budget) {
  const Vector<RegisterPiece> sorted = in_order(pieces, budget);
  budget.charge((sizeof(int64_t) + sizeof(int32_t)) * (2 * pieces.size() + num_states));
  DistanceSteps found;
  const auto add = [&](int32_t state, int64_t low, int32_t distance) {
    found.key.push_back(state * (int64_t{max_register} + 1) + low);
    found.value.push_back(distance);
  };
  auto piece = sorted.begin();
  for (int32_t state = 0; state < num_states; ++state) {
    int64_t next = 0;
    for (; piece != sorted.end() && piece->state == state; ++piece) {
      if (piece->low > next) add(state, next, DistanceSteps::kFar);
      add(state, piece->low, piece->distance);
      next = int64_t{piece->high} + 1;
    }
    if (next <= max_register) add(state, next, DistanceSteps::kFar);
  }
  return found;
}

Vector<StateValues> joined(std::span<const RegisterPiece> pieces, Budget& budget) {
  Vector<StateValues> found(budget);
  for (const RegisterPiece& piece : in_order(pieces, budget)) {
    if (!found.empty() && found.back().state == piece.state && found.back().high + 1 == piece.low) {
      found.back().high = piece.high;
    } else {
      found.push_back({piece.state, piece.low, piece.high});
    }
  }
  return found;
}

std::optional<Vector<EdgePart>> live_parts(int32_t num_states, std::span<const GuardedEdge> edges,
                                           std::span<const StateValues> live, size_t max_parts, Budget& budget) {
  const support::Groups by_state =
      support::grouped(num_states, live.size(), [&](size_t l) { return live[l].state; }, budget);
  Vector<EdgePart> parts(budget);
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    for (int32_t l : by_state[edges[edge].target]) {
      const auto [low, high] = before(edges[edge], live[l].low, live[l].high);
      if (low <= high) parts.push_back({static_cast<int32_t>(edge), low, high});
    }
    if (parts.size() > max_parts) return std::nullopt;
    budget.spend(1 + static_cast<int64_t>(by_state[edges[edge].target].size()));
  }
  return parts;
}

}  // namespace automata
