#include "automata/minimize.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <utility>

#include "automata/distance.h"
#include "support/hash.h"
#include "support/interner.h"
#include "support/value_interner.h"

namespace automata {

namespace {

// Elements grouped into sets, which are runs of a permutation of the elements. Marked elements are moved to the front
// of their set, and a split turns them, or the others, into a new set.
class Partition {
 public:
  // Make one set of each group that has any elements.
  Partition(support::Groups groups, Budget& budget)
      : elements_(std::move(groups.order)),
        places_(elements_.size(), budget),
        sets_(budget),
        touched_(budget) {
    for (size_t group = 0; group + 1 < groups.offsets.size(); ++group) {
      const int32_t first = groups.offsets[group], last = groups.offsets[group + 1];
      if (first == last) continue;
      for (int32_t at = first; at < last; ++at) places_[elements_[at]] = {at, num_sets()};
      sets_.push_back({first, last, 0});
    }
  }

  int32_t num_sets() const { return static_cast<int32_t>(sets_.size()); }
  int32_t owner(int32_t element) const { return places_[element].owner; }
  std::span<const int32_t> operator[](int32_t set) const {
    return {elements_.data() + sets_[set].first, elements_.data() + sets_[set].last};
  }

  void mark(int32_t element) {
    const auto [old, owner] = places_[element];
    Set& set = sets_[owner];
    const int32_t front = set.first + set.num_marked;
    if (old < front) return;  // marked before
    const int32_t other = elements_[front];
    elements_[old] = other, places_[other].at = old;
    elements_[front] = element, places_[element].at = front;
    if (set.num_marked++ == 0) touched_.push_back(owner);
  }
  // Split every set with marks into its marked and its unmarked part; the smaller one becomes a new set.
  void split() {
    for (; !touched_.empty(); touched_.pop_back()) {
      const int32_t owner = touched_.back();
      Set& set = sets_[owner];
      const int32_t first = set.first, last = set.last, middle = first + set.num_marked;
      set.num_marked = 0;
      if (middle == last) continue;
      const bool marked_are_fewer = middle - first <= last - middle;
      (marked_are_fewer ? set.first : set.last) = middle;
      const Set split_off = marked_are_fewer ? Set{first, middle, 0} : Set{middle, last, 0};
      for (int32_t at = split_off.first; at < split_off.last; ++at) places_[elements_[at]].owner = num_sets();
      sets_.push_back(split_off);
    }
  }

 private:
  struct Set {
    int32_t first, last, num_marked;
  };
  struct Place {
    int32_t at, owner;
  };
  Vector<int32_t> elements_;
  Vector<Place> places_;  // by element
  Vector<Set> sets_;
  Vector<int32_t> touched_;  // sets with marked elements
};

struct Trimmed {
  int32_t start;
  Transitions automaton;
  Vector<int32_t> distance;  // of each state, the least number of arcs to the end of a text

  int32_t add(uint8_t final, int32_t from_end) {
    automaton.final.push_back(final);
    distance.push_back(from_end);
    return automaton.num_states() - 1;
  }
};

// Return the accessible and coaccessible part of the automaton.
Trimmed trimmed(const Transitions& automaton, Budget& budget) {
  const int32_t num_states = automaton.num_states();
  const auto& arcs = automaton.arcs;
  Vector<int32_t> number(num_states, kNone, budget);
  Trimmed found{kNone, Transitions(budget), Vector<int32_t>(budget)};
  {
    const Vector<int32_t> ahead = distances(num_states, arcs, flagged(automaton.final), budget);
    const auto reversed = std::views::transform(arcs, [](const Arc& arc) { return Edge{arc.target, arc.source}; });
    const Vector<int32_t> behind = distances(num_states, reversed, std::array{0}, budget);
    for (int32_t state = 0; state < num_states; ++state) {
      if (ahead[state] != kNone && behind[state] != kNone)
        number[state] = found.add(automaton.final[state], ahead[state]);
    }
  }
  found.start = number[0];
  budget.spend(std::ssize(arcs) + num_states);
  found.automaton.arcs.reserve(arcs.size());
  for (const Arc& arc : arcs) {
    if (number[arc.source] == kNone || number[arc.target] == kNone) continue;
    found.automaton.arcs.push_back({number[arc.source], arc.symbol, number[arc.target]});
  }
  return found;
}

// The states from which no cycle is reached, by classes of equivalent ones.
class AcyclicClasses {
 public:
  AcyclicClasses(const Transitions& automaton, const support::Groups& into, Budget& budget)
      : class_of(automaton.num_states(), kNone, budget),
        states(budget),
        budget_(budget),
        automaton_(automaton),
        rows_(budget) {
    const auto& arcs = automaton.arcs;
    Vector<int32_t> unknown(automaton.num_states(), 0, budget);  // how many arcs lead to states without a class
    for (const Arc& arc : arcs) ++unknown[arc.source];
    Vector<int32_t> waiting(budget);
    for (int32_t state = 0; state < automaton.num_states(); ++state) {
      if (unknown[state] == 0) waiting.push_back(state);
    }
    const auto leaving =
        support::grouped(automaton.num_states(), arcs.size(), [&](size_t a) { return arcs[a].source; }, budget);
    for (size_t at = 0; at < waiting.size(); ++at) {
      const int32_t state = waiting[at];
      add(state, leaving[state]);
      for (int32_t arc : into[state]) {
        if (--unknown[arcs[arc].source] == 0) waiting.push_back(arcs[arc].source);
      }
    }
    num_states = static_cast<int32_t>(waiting.size());
  }

  Vector<int32_t> class_of;  // by state, kNone for those from which a cycle is reached
  Vector<int32_t> states;    // by class, one of its states
  int32_t num_states = 0;    // in all classes

 private:
  // Find the class of a state whose arcs lead to states with a class.
  void add(int32_t state, std::span<const int32_t> leaving) {
    rows_.push({automaton_.final[state], 0});
    for (int32_t number : leaving) {
      const Arc& arc = automaton_.arcs[number];
      rows_.push({arc.symbol, class_of[arc.target]});
    }
    std::ranges::sort(rows_.open().subspan(1), {}, &Step::symbol);
    const auto [number, is_new] = rows_.close();
    class_of[state] = number;
    if (is_new) states.push_back(state);
    budget_.spend(8 + 4 * static_cast<int64_t>(leaving.size()));
  }

  struct Step {
    int32_t symbol, target;
    bool operator==(const Step&) const = default;
  };
  Budget& budget_;
  const Transitions& automaton_;
  support::Interner<Step> rows_;  // whether a state is final, and its arcs
};

// Return the automaton with one state of each class, and the other states.
Trimmed merged(const Trimmed& trim, const AcyclicClasses& classes, Budget& budget) {
  const auto& arcs = trim.automaton.arcs;
  const int32_t num_states = trim.automaton.num_states();
  Vector<int32_t> number = classes.class_of;
  Trimmed found{kNone, Transitions(budget), Vector<int32_t>(budget)};
  const auto add = [&](int32_t state) { return found.add(trim.automaton.final[state], trim.distance[state]); };
  for (int32_t state : classes.states) add(state);
  for (int32_t state = 0; state < num_states; ++state) {
    if (number[state] == kNone) number[state] = add(state);
  }
  found.start = number[trim.start];
  budget.spend(std::ssize(arcs) + num_states);
  for (const Arc& arc : arcs) {
    const int32_t own = classes.class_of[arc.source];
    if (own == kNone || classes.states[own] == arc.source)
      found.automaton.arcs.push_back({number[arc.source], arc.symbol, number[arc.target]});
  }
  return found;
}

// Return the automaton of the blocks, with the arcs of one state of each.
Minimal of_blocks(const Trimmed& trim, const Partition& blocks, Budget& budget) {
  Minimal found{blocks.owner(trim.start), Transitions(budget)};
  budget.spend(std::ssize(trim.automaton.arcs) + blocks.num_sets());
  Vector<int32_t> chosen(budget);
  for (int32_t block = 0; block < blocks.num_sets(); ++block) {
    chosen.push_back(blocks[block].front());
    found.automaton.final.push_back(trim.automaton.final[chosen.back()]);
  }
  for (const Arc& arc : trim.automaton.arcs) {
    const int32_t block = blocks.owner(arc.source);
    if (chosen[block] == arc.source) found.automaton.arcs.push_back({block, arc.symbol, blocks.owner(arc.target)});
  }
  return found;
}

// Group states by their distance from the end and the distances that their arcs lead to. Equivalent states are in one
// group; a coincidence of hashes may put others together.
support::Groups grouped_by_distance(const Trimmed& trim, Budget& budget) {
  const auto& [start, automaton, distance] = trim;
  const auto num_states = static_cast<int32_t>(distance.size());
  Vector<uint64_t> seen(num_states, 0, budget);
  for (const Arc& arc : automaton.arcs) {
    seen[arc.source] += support::mixed_value(0, Edge{arc.symbol, distance[arc.target]});
  }
  support::ValueInterner<uint64_t> signatures(budget);
  Vector<int32_t> group(num_states, budget);
  for (int32_t state = 0; state < num_states; ++state) {
    group[state] = signatures.intern(support::mixed(seen[state], distance[state])).number;
  }
  budget.spend(std::ssize(automaton.arcs) + 4 * int64_t{num_states});
  return support::grouped(signatures.size(), num_states, [&](size_t state) { return group[state]; }, budget);
}

// Refine blocks of states until all states of a block are equivalent. Arcs are numbered by their targets, so that those
// into a state lie side by side.
Minimal refined(Trimmed trim, const support::Groups& into, Budget& budget) {
  const auto& arcs = trim.automaton.arcs;
  const int32_t num_states = trim.automaton.num_states();
  Vector<int32_t> source(budget);
  source.reserve(arcs.size());
  budget.spend(std::ssize(arcs));
  int32_t num_symbols = 0;
  for (int32_t number : into.order) {
    source.push_back(arcs[number].source);
    num_symbols = std::max(num_symbols, arcs[number].symbol + 1);
  }
  const auto symbol = [&](size_t place) { return arcs[into.order[place]].symbol; };
  Partition blocks(grouped_by_distance(trim, budget), budget);
  if (blocks.num_sets() == num_states) return {trim.start, std::move(trim.automaton)};
  Partition cords(support::grouped(num_symbols, arcs.size(), symbol, budget), budget);
  int32_t block = 1;
  for (int32_t cord = 0; cord < cords.num_sets(); ++cord) {
    budget.spend(4 * static_cast<int64_t>(cords[cord].size()));
    for (int32_t arc : cords[cord]) blocks.mark(source[arc]);
    blocks.split();
    for (; block < blocks.num_sets(); ++block) {
      for (int32_t state : blocks[block]) {
        budget.spend(1 + 4 * static_cast<int64_t>(into[state].size()));
        for (int32_t arc = into.offsets[state]; arc < into.offsets[state + 1]; ++arc) cords.mark(arc);
      }
      cords.split();
    }
  }
  return of_blocks(trim, blocks, budget);
}

}  // namespace

Minimal minimize(const Transitions& automaton, Budget& budget) {
  Trimmed trim = trimmed(automaton, budget);
  if (trim.start == kNone) return {kNone, Transitions(budget)};
  support::Groups into = entering(trim.automaton.num_states(), trim.automaton.arcs, budget);
  {
    const AcyclicClasses classes(trim.automaton, into, budget);
    const bool is_acyclic = classes.num_states == trim.automaton.num_states();
    if (is_acyclic || std::ssize(classes.states) < classes.num_states) {
      trim = merged(trim, classes, budget);
      if (is_acyclic) return {trim.start, std::move(trim.automaton)};
      into = entering(trim.automaton.num_states(), trim.automaton.arcs, budget);
    }
  }
  return refined(std::move(trim), into, budget);
}

}  // namespace automata
