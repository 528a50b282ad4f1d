#include "automata/counted/subsets.h"

#include <algorithm>
#include <limits>

#include "automata/targets_by_symbol.h"
#include "support/csr.h"
#include "support/interner.h"

namespace automata {

namespace {

// How an element's count compares with the register: outside of loops; 1; equal; one more. Ascending by count.
enum CountKind : int32_t { kOutside, kEntered, kSame, kNext };
constexpr int32_t kNumCountKinds = 4;

struct CountedElement {
  int32_t state;
  CountKind kind;
};

class CountedConstruction {
 public:
  CountedConstruction(const MarkedNfa& nfa, Budget& budget)
      : found{Vector<int32_t>(budget), Vector<GuardedTransition>(budget)},
        nfa_(nfa),
        arcs_(support::grouped(
            num_states(), nfa.arcs.size(), [&](size_t a) { return nfa.arcs[a].source; }, budget)),
        epsilon_(support::grouped(
            num_states(), nfa.epsilon.size(), [&](size_t e) { return nfa.epsilon[e].source; }, budget)),
        sets_(budget),
        closure_(budget),
        seen_(static_cast<size_t>(kNumCountKinds) * num_states(), kNone, budget),
        targets_(nfa.num_symbols, budget),
        best_(num_states(), kOutside, budget),
        gathered_(num_states(), kNone, budget),
        budget_(budget) {
    sets_.push(0);
    sets_.close();
  }

  // Return false if the construction was given up.
  bool run(int64_t max_states, int64_t max_bytes) {
    const int64_t most_members = max_bytes / static_cast<int64_t>(sizeof(int32_t));
    for (int32_t state = 0; state < sets_.size() && !clash; ++state) {
      if (sets_.size() > max_states || sets_.num_values() > most_members) return false;
      found.final_from.push_back(kNone);
      // The greatest value that the register can have here; 0 if nothing counts.
      const int32_t most_register = greatest_register(state);
      for (int32_t low = std::min(most_register, 1); low <= most_register && !clash;) {
        change_ = int64_t{most_register} + 1;
        follow_epsilon(state, low);
        const auto high = static_cast<int32_t>(change_ - 1);
        targets_.drain([&](int32_t symbol, auto targets) { add_arc(state, symbol, low, high, targets); });
        if (high == std::numeric_limits<int32_t>::max()) break;
        low = high + 1;
      }
    }
    return true;
  }

  CountedTransitions found;
  std::optional<Clash> clash;

 private:
  int32_t num_states() const { return static_cast<int32_t>(nfa_.loop_of.size()); }

  int32_t greatest_register(int32_t state) const {
    int32_t most = kNone;
    for (int32_t member : sets_[state]) {
      if (nfa_.loop_of[member] == kNone) continue;
      const Loop& loop = nfa_.loops[nfa_.loop_of[member]];
      const int32_t bound = loop.high == kNone ? loop.low : loop.high;
      most = most == kNone ? bound : std::min(most, bound);
    }
    return std::max(most, 0);
  }

  void reach(CountedElement element) {
    int32_t& seen = seen_[static_cast<size_t>(kNumCountKinds) * element.state + element.kind];
    if (seen == stamp_) return;
    seen = stamp_;
    closure_.push_back(element);
  }
  // Find the epsilon closure of a set for a register value, and the targets of its arcs.
  void follow_epsilon(int32_t state, int32_t value) {
    ++stamp_;
    closure_.clear();
    for (int32_t member : sets_[state]) reach({member, nfa_.loop_of[member] == kNone ? kOutside : kSame});
    for (size_t at = 0; at < closure_.size(); ++at) {
      const CountedElement element = closure_[at];
      if (element.state == 1 && found.final_from[state] == kNone) found.final_from[state] = value;
      for (int32_t e : epsilon_[element.state]) follow(nfa_.epsilon[e], element.kind, value);
      for (int32_t a : arcs_[element.state]) {
        targets_.add(nfa_.arcs[a].symbol, {nfa_.arcs[a].target, element.kind});
      }
      budget_.spend(4 + static_cast<int64_t>(2 * epsilon_[element.state].size() + 4 * arcs_[element.state].size()));
    }
  }
  void follow(const MarkedEdge& edge, CountKind kind, int32_t value) {
    if (edge.mark == Mark::kPlain) return reach({edge.target, kind});
    if (edge.mark == Mark::kEnter) return reach({edge.target, kEntered});
    const Loop& loop = nfa_.loops[nfa_.loop_of[edge.source]];
    if (kind == kSame && value < loop.low) change_ = std::min<int64_t>(change_, loop.low);
    if (edge.mark == Mark::kExit) {
      if (kind != kSame || value >= loop.low) reach({edge.target, kOutside});
    } else if (kind == kSame && value != loop.high) {  // a second iteration without reading adds nothing new
      if (loop.high != kNone) change_ = std::min<int64_t>(change_, loop.high);
      reach({edge.target, loop.high != kNone || value < loop.low ? kNext : kSame});
    }
  }

  template <class Targets>
  void add_arc(int32_t state, int32_t symbol, int32_t low, int32_t high, Targets targets) {
    sets_.discard();
    targets([&](const CountedElement& target) { gather(target); });
    ++set_stamp_;
    const CountKind kind = common_kind();
    std::ranges::sort(sets_.open());
    const int32_t action = kind >= kSame ? kind - kSame : ~(kind == kEntered ? 1 : 0);
    found.arcs.push_back({state, symbol, low, high, sets_.close().number, action});
  }
  void gather(const CountedElement& target) {
    CountKind& best = best_[target.state];
    if (gathered_[target.state] != set_stamp_) {
      gathered_[target.state] = set_stamp_;
      best = target.kind;
      sets_.push(target.state);
    } else if (best != target.kind) {
      const int32_t loop = nfa_.loop_of[target.state];
      const Prefers prefers = nfa_.loops[loop].prefers;
      if (prefers == Prefers::kNeither) clash = {loop, loop};
      best = prefers == Prefers::kFewer ? std::min(best, target.kind) : std::max(best, target.kind);
    }
  }
  // Return the kind of the elements inside loops of the set that is being written.
  CountKind common_kind() {
    CountKind kind = kOutside;
    int32_t holder = kNone;
    for (int32_t member : sets_.open()) {
      if (nfa_.loop_of[member] == kNone) continue;
      if (holder != kNone && best_[member] != kind) clash = {holder, nfa_.loop_of[member]};
      kind = best_[member], holder = nfa_.loop_of[member];
    }
    return kind;
  }

  const MarkedNfa& nfa_;
  const support::Groups arcs_, epsilon_;  // by source
  support::Interner<int32_t> sets_;
  Vector<CountedElement> closure_;
  Vector<int32_t> seen_;  // by state and kind, the last closure that contained it
  int32_t stamp_ = 0;
  int64_t change_ = 0;  // the least register value for which the current closure would differ
  TargetsBySymbol<CountedElement> targets_;
  Vector<CountKind> best_;    // [N], of the elements of the set that is being written
  Vector<int32_t> gathered_;  // [N], the last set that a state was gathered for
  int32_t set_stamp_ = 0;
  Budget& budget_;
};

}  // namespace

CountedSubsets counted_subsets(const MarkedNfa& nfa, int64_t max_states, int64_t max_bytes, Budget& budget) {
  CountedConstruction construction(nfa, budget);
  const bool is_done = construction.run(max_states, max_bytes);
  if (construction.clash) return {std::nullopt, construction.clash};
  if (!is_done) return {};
  return {std::move(construction.found), std::nullopt};
}

}  // namespace automata
