#include "automata/transduce.h"

#include <algorithm>
#include <cmath>

#include "support/csr.h"
#include "support/value_interner.h"

namespace automata {

namespace {

struct Triple {
  int32_t left, right, filter;
  bool operator==(const Triple&) const = default;
};

double cost_at(std::span<const double> costs, size_t at) { return costs.empty() ? 0 : costs[at]; }

// The arcs of a transducer by state, with the last symbol that any arc up to each one of its state reads.
class ArcsByInput {
 public:
  ArcsByInput(const CostedTransducer& transducer, Budget& budget)
      : arcs_(transducer.arcs),
        offsets_(static_cast<size_t>(transducer.num_states) + 1, 0, budget),
        reach_(budget) {
    reach_.reserve(arcs_.size());
    for (size_t at = 0; at < arcs_.size(); ++at) {
      ++offsets_[arcs_[at].source + 1];
      const bool is_first = at == 0 || arcs_[at - 1].source != arcs_[at].source;
      reach_.push_back(is_first ? arcs_[at].in_high : std::max(reach_.back(), arcs_[at].in_high));
    }
    for (size_t state = 1; state < offsets_.size(); ++state) offsets_[state] += offsets_[state - 1];
    budget.spend(static_cast<int64_t>(4 * arcs_.size() + offsets_.size()));
  }

  // Visit the numbers of the arcs of a state that read nothing.
  template <class Visit>
  void reading_nothing(int32_t state, Visit visit) const {
    for (int32_t at = offsets_[state]; at < offsets_[state + 1] && arcs_[at].in_low == kNone; ++at) visit(at);
  }

  // Visit the numbers of the arcs of a state that read a symbol from `low` to `high`.
  template <class Visit>
  void reading(int32_t state, int32_t low, int32_t high, Visit visit) const {
    const auto own = arcs_.subspan(offsets_[state], offsets_[state + 1] - offsets_[state]);
    const auto end = std::ranges::upper_bound(own, high, {}, &TransducerArc::in_low);
    for (auto at = offsets_[state] + static_cast<int32_t>(end - own.begin()); at-- > offsets_[state];) {
      if (reach_[at] < low) return;
      if (arcs_[at].in_high >= low && arcs_[at].in_low != kNone) visit(at);
    }
  }

 private:
  const std::span<const TransducerArc> arcs_;
  Vector<int32_t> offsets_, reach_;
};

// The reachable triples, and the arcs between them. The start is state 0; state 1 is the end, which no triple is.
class Composition {
 public:
  Composition(const CostedNfa& nfa, const CostedTransducer& transducer, const ImageOptions& options, Budget& budget)
      : found(budget),
        nfa_(nfa),
        transducer_(transducer),
        options_(options),
        nfa_arcs_(support::grouped(
            nfa.num_states, nfa.arcs.size(), [&](size_t at) { return nfa.arcs[at].source; }, budget)),
        nfa_epsilon_(support::grouped(
            nfa.num_states, nfa.epsilon.size(), [&](size_t at) { return nfa.epsilon[at].source; }, budget)),
        by_input_(transducer, budget),
        epsilon_(support::grouped(
            transducer.num_states, transducer.epsilon.size(), [&](size_t at) { return transducer.epsilon[at].source; },
            budget)),
        triples_(budget),
        budget_(budget) {
    number({0, 0, 0});
    triples_.intern({kNone, kNone, 0});
  }

  void expand_all() {
    expand(0);
    for (int32_t state = 2; state < triples_.size(); ++state) {
      support::require_at_most(triples_.size(), options_.max_states);
      expand(state);
    }
    found.num_states = triples_.size();
  }

  Image found;

 private:
  int32_t number(Triple triple) { return triples_.intern(triple).number; }

  void add_epsilon(int32_t state, int32_t target, double cost) {
    found.epsilon.push_back({state, target});
    if (options_.weighted) found.epsilon_costs.push_back(cost);
  }

  // Add an arc that writes a run, or one that writes nothing.
  void add(int32_t state, int32_t low, int32_t high, int32_t target, double cost) {
    if (low == kNone) return add_epsilon(state, target, cost);
    found.arcs.push_back({state, low, high, target});
    if (options_.weighted) found.arc_costs.push_back(cost);
  }

  void expand(int32_t state) {
    const Triple triple = triples_[state];
    const auto [left, right, filter] = triple;
    if (left == 1 && right == 1) add_epsilon(state, 1, 0);
    if (filter == 0) {
      for (int32_t at : nfa_epsilon_[left]) {
        add_epsilon(state, number({nfa_.epsilon[at].target, right, 0}), cost_at(nfa_.epsilon_costs, at));
      }
    }
    const int32_t filtered = options_.each_path_once ? 1 : 0;
    for (int32_t at : epsilon_[right]) {
      add_epsilon(state, number({left, transducer_.epsilon[at].target, filtered}),
                  cost_at(transducer_.epsilon_costs, at));
    }
    by_input_.reading_nothing(right, [&](int32_t at) {
      const TransducerArc& arc = transducer_.arcs[at];
      add(state, arc.out_low, arc.out_high, number({left, arc.target, filtered}), cost_at(transducer_.arc_costs, at));
    });
    match(state, left, right);
  }

  void match(int32_t state, int32_t left, int32_t right) {
    int64_t steps = 8 + static_cast<int64_t>(nfa_epsilon_[left].size() + epsilon_[right].size());
    for (int32_t own : nfa_arcs_[left]) {
      const Range& read = nfa_.arcs[own];
      by_input_.reading(right, read.low, read.high, [&](int32_t at) {
        const TransducerArc& arc = transducer_.arcs[at];
        const int32_t low = std::max(read.low, arc.in_low), high = std::min(read.high, arc.in_high);
        const bool same = arc.out_low == kSame;
        double cost = cost_at(nfa_.arc_costs, own) + cost_at(transducer_.arc_costs, at);
        // Whatever is written, there is a path for each symbol read.
        if (options_.each_path_once && !same) cost -= std::log(high - low + 1);
        add(state, same ? low : arc.out_low, same ? high : arc.out_high, number({read.target, arc.target, 0}), cost);
        steps += 8;
      });
      steps += 8;
    }
    budget_.spend(steps);
  }

  const CostedNfa& nfa_;
  const CostedTransducer& transducer_;
  const ImageOptions options_;
  const support::Groups nfa_arcs_, nfa_epsilon_;
  const ArcsByInput by_input_;
  const support::Groups epsilon_;
  support::ValueInterner<Triple> triples_;
  Budget& budget_;
};

// Return the states from which the end can be reached.
Vector<uint8_t> coaccessible(const Image& image, Budget& budget) {
  const auto num_arcs = image.arcs.size(), num_edges = num_arcs + image.epsilon.size();
  const auto edge_at = [&](size_t at) {
    if (at >= num_arcs) return image.epsilon[at - num_arcs];
    return Edge{image.arcs[at].source, image.arcs[at].target};
  };
  const support::Groups into =
      support::grouped(image.num_states, num_edges, [&](size_t at) { return edge_at(at).target; }, budget);
  Vector<uint8_t> seen(image.num_states, 0, budget);
  Vector<int32_t> waiting(1, 1, budget);
  seen[1] = 1;
  while (!waiting.empty()) {
    const int32_t state = waiting.back();
    waiting.pop_back();
    for (int32_t at : into[state]) {
      const int32_t source = edge_at(at).source;
      if (seen[source]) continue;
      seen[source] = 1;
      waiting.push_back(source);
    }
    budget.spend(2 + 2 * static_cast<int64_t>(into[state].size()));
  }
  return seen;
}

// Keep the arcs between some states, under the new numbers of these, and their costs.
template <class Arcs>
void keep(Arcs& arcs, Vector<double>& costs, const Vector<int32_t>& number_of) {
  size_t kept = 0;
  for (size_t at = 0; at < arcs.size(); ++at) {
    auto arc = arcs[at];
    arc.source = number_of[arc.source], arc.target = number_of[arc.target];
    if (arc.source == kNone || arc.target == kNone) continue;
    arcs[kept] = arc;
    if (!costs.empty()) costs[kept] = costs[at];
    ++kept;
  }
  arcs.resize(kept);
  if (!costs.empty()) costs.resize(kept);
}

void trim(Image& image, Budget& budget) {
  const Vector<uint8_t> kept = coaccessible(image, budget);
  Vector<int32_t> number_of(image.num_states, kNone, budget);
  number_of[0] = 0, number_of[1] = 1;
  int32_t count = 2;
  for (int32_t state = 2; state < image.num_states; ++state) {
    if (kept[state]) number_of[state] = count++;
  }
  budget.spend(static_cast<int64_t>(image.num_states + image.arcs.size() + image.epsilon.size()));
  keep(image.arcs, image.arc_costs, number_of);
  keep(image.epsilon, image.epsilon_costs, number_of);
  image.num_states = count;
}

}  // namespace

Image image(const CostedNfa& nfa, const CostedTransducer& transducer, const ImageOptions& options, Budget& budget) {
  Composition composition(nfa, transducer, options, budget);
  composition.expand_all();
  trim(composition.found, budget);
  return std::move(composition.found);
}

}  // namespace automata
