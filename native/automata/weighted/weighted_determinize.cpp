#include "automata/weighted/weighted_determinize.h"

#include <algorithm>
#include <stdexcept>

#include "support/csr.h"
#include "support/interner.h"

namespace automata {

namespace {

// A state of the NFA and what its paths cost beyond what has been paid.
struct Member {
  int64_t state;
  Cost residual;
  bool operator==(const Member&) const = default;
};

// An arc out of a set: a run of symbols, and what its paths cost.
struct Piece {
  int32_t low, high, target;
  Cost cost;
};

// In the log semiring cycles of epsilon arcs are followed until costs change no more, for about this many steps at
// most.
constexpr int64_t kMaxRounds = 1'000'000;

class Determinizer {
 public:
  Determinizer(const WeightedNfa& nfa, Semiring semiring, Budget& budget)
      : nfa_(nfa),
        semiring_(semiring),
        budget_(budget),
        found_(budget),
        arcs_(support::grouped(
            nfa.num_states, nfa.arcs.size(), [&](size_t a) { return nfa.arcs[a].source; }, budget)),
        epsilon_(support::grouped(
            nfa.num_states, nfa.epsilon.size(), [&](size_t e) { return nfa.epsilon[e].source; }, budget)),
        sets_(budget),
        cost_(nfa.num_states, kInfinite, budget),
        pending_(nfa.num_states, kInfinite, budget),
        reached_(budget),
        queue_(budget),
        pieces_(budget),
        active_(budget),
        members_(budget) {
    sets_.push({0, 0});
    sets_.close();
  }

  WeightedBuilder run(int64_t max_states) {
    for (int32_t set = 0; set < sets_.size(); ++set) {
      support::require_at_most(sets_.size(), max_states);
      close_over_epsilon(set);
      gather();
      sweep();
      found_.close(cost_[1]);
      for (int32_t state : reached_) cost_[state] = kInfinite;
    }
    return std::move(found_);
  }

 private:
  // Find the cost of every state that the set reaches without reading.
  void close_over_epsilon(int32_t set) {
    reached_.clear();
    queue_.clear();
    for (const Member& member : sets_[set]) reach(static_cast<int32_t>(member.state), member.residual);
    for (size_t at = 0; at < queue_.size(); ++at) {
      const int32_t state = queue_[at];
      const Cost more = pending_[state];
      pending_[state] = kInfinite;
      budget_.spend(2 + 2 * static_cast<int64_t>(epsilon_[state].size()));
      for (int32_t e : epsilon_[state]) reach(nfa_.epsilon[e].target, sum(more, nfa_.epsilon_cost[e]));
      const auto count = static_cast<int64_t>(reached_.size());
      const int64_t most = count * count + (semiring_ == Semiring::kLog ? kMaxRounds : 0);
      if (static_cast<int64_t>(at) > most || more == -kFarCost) {
        throw std::domain_error(
            semiring_ == Semiring::kLog
                ? "the probabilities of a cycle of epsilon arcs have no finite sum, or one that takes too long to find"
                : "a cycle of epsilon arcs lowers the cost without bound, or epsilon arcs cost less than -2^32 in all");
      }
    }
  }

  // A path to a state has some cost.
  void reach(int32_t state, Cost cost) {
    const Cost before = cost_[state], after = either(semiring_, before, cost);
    if (after == before) return;
    if (before == kInfinite) reached_.push_back(state);
    cost_[state] = after;
    if (pending_[state] == kInfinite) queue_.push_back(state);
    pending_[state] = either(semiring_, pending_[state], cost);
  }

  void gather() {
    pieces_.clear();
    for (int32_t state : reached_) {
      for (int32_t a : arcs_[state]) {
        const Range& arc = nfa_.arcs[a];
        pieces_.push_back({arc.low, arc.high, arc.target, sum(cost_[state], nfa_.arc_cost[a])});
      }
    }
    budget_.spend(8 * static_cast<int64_t>(pieces_.size()) + 8);
    std::ranges::sort(pieces_, {}, &Piece::low);
  }

  // Cut the symbols where the set of pieces over them changes.
  void sweep() {
    active_.clear();
    size_t next = 0;
    int32_t low = 0;
    while (next < pieces_.size() || !active_.empty()) {
      if (active_.empty()) low = pieces_[next].low;
      for (; next < pieces_.size() && pieces_[next].low == low; ++next) active_.push_back(pieces_[next]);
      int32_t end = next < pieces_.size() ? pieces_[next].low : INT32_MAX;
      for (const Piece& piece : active_) end = std::min(end, piece.high + 1);
      emit(low, end - 1);
      std::erase_if(active_, [&](const Piece& piece) { return piece.high < end; });
      low = end;
    }
  }

  // Add the arc over a run of symbols that all active pieces are over.
  void emit(int32_t low, int32_t high) {
    budget_.spend(4 * static_cast<int64_t>(active_.size()));
    members_.clear();
    for (const Piece& piece : active_) members_.push_back({piece.target, piece.cost});
    std::ranges::sort(members_, {}, &Member::state);
    size_t size = 0;
    Cost paid = kInfinite;
    for (const Member& member : members_) {
      if (size && members_[size - 1].state == member.state) {
        members_[size - 1].residual = either(semiring_, members_[size - 1].residual, member.residual);
      } else {
        members_[size++] = member;
      }
      paid = either(semiring_, paid, member.residual);
    }
    for (size_t at = 0; at < size; ++at) sets_.push({members_[at].state, sum(members_[at].residual, -paid)});
    found_.add({low, high, sets_.close().number}, paid);
  }

  const WeightedNfa& nfa_;
  const Semiring semiring_;
  Budget& budget_;
  WeightedBuilder found_;
  const support::Groups arcs_, epsilon_;
  support::Interner<Member> sets_;
  Vector<Cost> cost_, pending_;  // [S], of the set that is being expanded; and what its epsilon arcs have not seen yet
  Vector<int32_t> reached_, queue_;
  Vector<Piece> pieces_, active_;
  Vector<Member> members_;
};

}  // namespace

WeightedBuilder determinized(const WeightedNfa& nfa, Semiring semiring, int64_t max_states, Budget& budget) {
  return Determinizer(nfa, semiring, budget).run(max_states);
}

}  // namespace automata
