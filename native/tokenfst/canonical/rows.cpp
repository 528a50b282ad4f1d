#include "tokenfst/canonical/rows.h"

#include <algorithm>

#include "support/count.h"
#include "support/interner.h"

namespace tokenfst::canonical {

namespace {

// The edges of each class out of one set, as linked lists that are emptied as they are read; those after a boundary
// come before the others.
class EdgesByClass {
 public:
  EdgesByClass(int32_t num_classes, Budget& budget)
      : first_(static_cast<size_t>(num_classes), kNone, budget),
        links_(budget),
        met_(budget) {}

  void add(std::span<const LiveEdge> edges, bool apart) {
    for (const LiveEdge& edge : edges) {
      if (first_[edge.number] == kNone) met_.push_back(edge.number);
      links_.push_back({&edge, first_[edge.number], apart});
      first_[edge.number] = static_cast<int32_t>(links_.size()) - 1;
    }
  }
  // The classes met, ascending.
  std::span<const int32_t> classes() {
    std::ranges::sort(met_);
    return met_;
  }
  // Calls `each` for the edges of a class that come after a boundary, or for those that do not.
  template <class Each>
  void for_edges(int32_t number, bool apart, Each each) const {
    for (int32_t at = first_[number]; at != kNone; at = links_[at].next) {
      if (links_[at].apart == apart) each(*links_[at].edge);
    }
  }
  size_t size() const { return links_.size(); }
  void clear() {
    for (int32_t number : met_) first_[number] = kNone;
    met_.clear();
    links_.clear();
  }

 private:
  struct Link {
    const LiveEdge* edge;
    int32_t next;
    bool apart;
  };
  Vector<int32_t> first_;
  Vector<Link> links_;
  Vector<int32_t> met_;
};

class Subsets {
 public:
  Subsets(const LiveEdges& edges, const Product& product, Budget& budget)
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

  Rows explore(int64_t max_states) {
    Rows found;
    for (int32_t state = 0; state < sets_.size(); ++state) {
      if (sets_.size() > max_states) {
        throw support::LimitExceeded(support::Limit::kStates, static_cast<double>(max_states));
      }
      found.offsets.push_back(support::as_count(made_.size()));
      found.final.push_back(expand(state));
    }
    found.offsets.push_back(support::as_count(made_.size()));
    budget_.charge(sizeof(RowEdge) * made_.size() + 5 * found.final.size());
    found.edges.assign(made_.begin(), made_.end());
    return found;
  }

 private:
  // Adds the edges of a set; returns whether the text may end there.
  bool expand(int32_t state) {
    bool is_final = false;
    out_.clear();
    for (int32_t member : sets_[state]) {
      is_final |= product_.automaton.final[member] != 0;
      out_.add(edges_.of(member), false);
      if (product_.split[member] != kNone) out_.add(edges_.of(product_.split[member]), true);
    }
    for (int32_t number : out_.classes()) made_.push_back(edge(number));
    budget_.spend(4 + 16 * static_cast<int64_t>(out_.size()));
    return is_final;
  }
  RowEdge edge(int32_t number) {
    RowEdge found{number, kNone, kNone, kNoEnd, kNoEnd};
    targets_.clear();
    found.least_apart = gather(number, true);
    found.apart = close();
    const size_t num_apart = targets_.size();
    found.least_any = std::min(found.least_apart, gather(number, false));
    found.any = targets_.size() == num_apart ? found.apart : close();
    return found;
  }
  // Adds the targets of a class to those gathered, without duplicates; returns the least number of tokens to go.
  int32_t gather(int32_t number, bool apart) {
    int32_t least = kNoEnd;
    out_.for_edges(number, apart, [&](const LiveEdge& edge) {
      least = std::min(least, edge.least);
      budget_.spend(static_cast<int64_t>(targets_.size()));
      if (std::ranges::find(targets_, edge.target) == targets_.end()) targets_.push_back(edge.target);
    });
    return least;
  }
  // The set of the targets gathered, kNone if there are none.
  int32_t close() {
    if (targets_.empty()) return kNone;
    sets_.discard();
    for (int32_t target : targets_) sets_.push(target);
    std::ranges::sort(sets_.open());
    return sets_.close().number;
  }

  const LiveEdges& edges_;
  const Product& product_;
  support::Interner<int32_t> sets_;
  EdgesByClass out_;
  Vector<RowEdge> made_;
  Vector<int32_t> targets_;
  Budget& budget_;
};

}  // namespace

Rows rows(const LiveEdges& edges, const Product& product, int64_t max_states, Budget& budget) {
  return Subsets(edges, product, budget).explore(max_states);
}

}  // namespace tokenfst::canonical
