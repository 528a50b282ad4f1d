#include "tokenfst/canonical/subsets.h"

#include <algorithm>

#include "automata/targets_by_symbol.h"
#include "support/count.h"
#include "support/interner.h"

namespace tokenfst::canonical {

namespace {

// An edge out of a set, and whether a boundary comes before it.
struct SetEdge {
  const LiveEdge* edge;
  bool at_boundary;
};

class SubsetConstruction {
 public:
  SubsetConstruction(const LiveEdges& edges, const CanonicalProduct& product, Budget& budget)
      : edges_(edges),
        product_(product),
        sets_(budget),
        out_(edges.num_classes, budget),
        made_(budget),
        targets_(budget),
        budget_(budget) {
    sets_.push(0);
    sets_.close();
  }

  Subsets explore(int64_t max_states) {
    Subsets found;
    for (int32_t state = 0; state < sets_.size(); ++state) {
      support::require_at_most(sets_.size(), max_states);
      found.offsets.push_back(support::as_count(made_.size()));
      found.final.push_back(expand(state));
    }
    found.offsets.push_back(support::as_count(made_.size()));
    budget_.charge(5 * found.final.size());
    found.edges = support::charged_copy(made_, budget_);
    return found;
  }

 private:
  // Add the edges of a set; return whether the text may end there.
  bool expand(int32_t state) {
    bool is_final = false;
    for (int32_t member : sets_[state]) {
      is_final |= product_.automaton.final[member] != 0;
      add_edges(member, false);
      if (product_.split[member] != kNone) add_edges(product_.split[member], true);
    }
    out_.drain_ascending([&](int32_t number, auto visit) { made_.push_back(edge(number, visit)); });
    budget_.spend(4);
    return is_final;
  }
  void add_edges(int32_t member, bool at_boundary) {
    for (const LiveEdge& edge : edges_.of(member)) out_.add(edge.number, {&edge, at_boundary});
    budget_.spend(16 * static_cast<int64_t>(edges_.of(member).size()));
  }
  template <class VisitEdges>
  SubsetEdge edge(int32_t number, VisitEdges visit) {
    SubsetEdge found{number, kNone, kNone, kNoEnd, kNoEnd};
    targets_.clear();
    found.least_at_boundary = gather(visit, true);
    found.at_boundary = close();
    const size_t num_at_boundary = targets_.size();
    found.least_joined = std::min(found.least_at_boundary, gather(visit, false));
    found.joined = targets_.size() == num_at_boundary ? found.at_boundary : close();
    return found;
  }
  // Add the targets of a class to those gathered, without duplicates; return the least number of tokens to go.
  template <class VisitEdges>
  int32_t gather(VisitEdges visit, bool at_boundary) {
    int32_t least = kNoEnd;
    visit([&](const SetEdge& from) {
      if (from.at_boundary != at_boundary) return;
      least = std::min(least, from.edge->least);
      budget_.spend(static_cast<int64_t>(targets_.size()));
      if (std::ranges::find(targets_, from.edge->target) == targets_.end()) targets_.push_back(from.edge->target);
    });
    return least;
  }
  // Return the set of the targets gathered, kNone if there are none.
  int32_t close() {
    if (targets_.empty()) return kNone;
    sets_.discard();
    for (int32_t target : targets_) sets_.push(target);
    std::ranges::sort(sets_.open());
    return sets_.close().number;
  }

  const LiveEdges& edges_;
  const CanonicalProduct& product_;
  support::Interner<int32_t> sets_;
  automata::TargetsBySymbol<SetEdge> out_;
  Vector<SubsetEdge> made_;
  Vector<int32_t> targets_;
  Budget& budget_;
};

}  // namespace

Subsets subsets(const LiveEdges& edges, const CanonicalProduct& product, int64_t max_states, Budget& budget) {
  return SubsetConstruction(edges, product, budget).explore(max_states);
}

}  // namespace tokenfst::canonical
