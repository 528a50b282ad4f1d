#include "tokenfst/pushdown/trim.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "support/bits.h"
#include "support/csr.h"
#include "support/interner.h"
#include "support/value_interner.h"
#include "tokenfst/classes.h"
#include "tokenfst/pushdown/tree_builder.h"

namespace tokenfst {

namespace {

using support::Interner;

class LiveSets {
 public:
  LiveSets(const PopDistances& pop_distances, Budget& budget)
      : pop_distances_(pop_distances),
        budget_(budget),
        sets_(budget),
        above_(0, pop_distances.tables().num_symbols, kUnknown, budget),
        pairs_(budget),
        below_(budget),
        is_crossing_(budget) {}

  // Return the kinds that are coaccessible with the empty stack.
  int32_t first() {
    for (int32_t kind = 0; kind < pop_distances_.kinds().size(); ++kind) {
      if (pop_distances_.to_end(kind) < kFar) sets_.push(kind);
    }
    return close();
  }
  bool contains(int32_t set, int32_t kind) const { return std::ranges::binary_search(sets_[set], kind); }
  bool contains_state(int32_t set, int32_t state) const { return contains(set, pop_distances_.kinds().of(state)); }
  // Return the set of a stack with one more symbol.
  int32_t pushed(int32_t set, int32_t symbol) {
    if (above_[set][symbol] == kUnknown) {
      find_above(set, symbol);
      const int32_t found = close();
      above_[set][symbol] = found;
    }
    const int32_t found = above_[set][symbol];
    const auto [pair, is_new] = pairs_.intern({found, symbol, set});
    if (is_new) below_[static_cast<size_t>(found) * num_symbols() + symbol].push_back(set);
    return found;
  }
  // Return the sets known to lie below a symbol in stacks with this set.
  std::span<const int32_t> below(int32_t set, int32_t symbol) const {
    return below_[static_cast<size_t>(set) * num_symbols() + symbol];
  }
  // Return the number of known pairs of a set and one below it.
  int32_t num_pairs() const { return pairs_.size(); }

 private:
  struct SetAndSymbol {
    int32_t above, symbol, below;
    bool operator==(const SetAndSymbol&) const = default;
  };

  size_t num_symbols() const { return static_cast<size_t>(pop_distances_.tables().num_symbols); }

  void find_above(int32_t set, int32_t symbol) {
    const Kinds& kinds = pop_distances_.kinds();
    is_crossing_.assign(pop_distances_.num_push_sets(), false);
    for (const PopColumns::Popped& popped : pop_distances_.columns().of(symbol)) {
      if (!contains(set, popped.kind)) continue;
      const auto crossings = pop_distances_.crossings(popped.column);
      for (const PopDistances::Crossing& crossing : crossings) is_crossing_[crossing.push_set] = true;
      budget_.spend(static_cast<int64_t>(crossings.size()) + 8);
    }
    const auto children = kinds.children(symbol);
    auto child = children.begin();
    for (int32_t kind = 0; kind < kinds.size(); ++kind) {
      bool is_live = is_crossing_[pop_distances_.push_set_of(kind)];
      if (child != children.end() && child->kind == kind) is_live = contains(set, (child++)->child) || is_live;
      if (is_live) sets_.push(kind);
    }
    budget_.spend(kinds.size() + 8 * static_cast<int64_t>(children.size()));
  }
  int32_t close() {
    const auto [number, is_new] = sets_.close();
    if (is_new) {
      above_.add_row(kUnknown);
      for (size_t symbol = 0; symbol < num_symbols(); ++symbol) below_.emplace_back(budget_);
    }
    return number;
  }

  const PopDistances& pop_distances_;
  Budget& budget_;
  Interner<int32_t> sets_;
  support::Matrix<int32_t> above_;  // [sets, S]
  support::ValueInterner<SetAndSymbol> pairs_;
  Vector<Vector<int32_t>> below_;  // [sets x S]
  Vector<uint8_t> is_crossing_;    // [push sets], scratch space
};

// One path through the tree of a state's effect.
struct EffectPath {
  int32_t source;
  int32_t path;
};

class ReachabilitySearch {
 public:
  ReachabilitySearch(const Trees& trees, const PopDistances& pop_distances, std::span<const EffectPath> moves,
                     const Paths& paths, Budget& budget)
      : trees_(trees),
        moves_(moves),
        paths_(paths),
        budget_(budget),
        live_(pop_distances, budget),
        is_alive_(moves.size(), false, budget),
        is_dead_(moves.size(), false, budget),
        reached_(budget),
        sets_(budget),
        following_(budget) {}

  // Find which paths lead to coaccessible nodes; stop if none do, or if the answer depends on the stack.
  Trim run(const PopDistances& pop_distances, std::span<const uint8_t> is_overflow) {
    const int32_t start = pop_distances.tables().start;
    if (pop_distances.to_end(pop_distances.kinds().of(start)) >= kFar) return Trim::kEmpty;
    const auto by_source = sorted(pop_distances.tables().num_states, is_overflow);
    reached_.intern({start, live_.first()});
    // Sets below are found during the search, so everything is visited again until nothing is new.
    int32_t num_reached = 0, num_pairs = -1;
    while (num_reached != reached_.size() || num_pairs != live_.num_pairs()) {
      num_reached = reached_.size(), num_pairs = live_.num_pairs();
      for (int32_t place = 0; place < num_reached; ++place) {
        const StateAndSet from = reached_[place];
        for (int32_t move : by_source[from.state]) take(move, from);
      }
    }
    for (size_t move = 0; move < moves_.size(); ++move) {
      if (is_alive_[move] && is_dead_[move]) return Trim::kDependsOnStack;
    }
    return Trim::kDone;
  }
  bool is_alive(size_t move) const { return is_alive_[move]; }

 private:
  struct StateAndSet {
    int32_t state, set;
    bool operator==(const StateAndSet&) const = default;
  };

  int32_t target(size_t move) const { return paths_.leaf(moves_[move].path).to; }

  // Group the paths by source state, except those from and to overflow states, which are kept.
  support::Groups sorted(int32_t num_states, std::span<const uint8_t> is_overflow) {
    for (size_t move = 0; move < moves_.size(); ++move) {
      is_alive_[move] = is_overflow[moves_[move].source] || is_overflow[target(move)];
    }
    const auto source = [&](size_t move) { return is_alive_[move] ? num_states : moves_[move].source; };
    return support::grouped(num_states + 1, moves_.size(), source, budget_);
  }

  void take(int32_t move, const StateAndSet& from) {
    find_sets(from.set, move);
    for (int32_t set : sets_) {
      if (live_.contains_state(set, target(move))) {
        is_alive_[move] = true;
        reached_.intern({target(move), set});
      } else {
        is_dead_[move] = true;
      }
    }
    budget_.spend(16 * static_cast<int64_t>(sets_.size()) + 16);
  }

  // Find the sets that a stack with a given set may have after a move.
  void find_sets(int32_t set, int32_t move) {
    sets_.assign(1, set);
    for (int32_t symbol : paths_.symbols(moves_[move].path)) {
      following_.clear();
      for (int32_t each : sets_) {
        const auto below = live_.below(each, symbol);
        following_.insert(following_.end(), below.begin(), below.end());
      }
      replace();
    }
    for (int32_t symbol : trees_.symbols(paths_.leaf(moves_[move].path).pushed)) {
      following_.clear();
      for (int32_t each : sets_) following_.push_back(live_.pushed(each, symbol));
      replace();
    }
  }
  void replace() {
    std::ranges::sort(following_);
    const auto repeated = std::ranges::unique(following_);
    sets_.assign(following_.begin(), repeated.begin());
    budget_.spend(8 * static_cast<int64_t>(following_.size()) + 4);
  }

  const Trees& trees_;
  const std::span<const EffectPath> moves_;
  const Paths& paths_;
  Budget& budget_;
  LiveSets live_;
  Vector<uint8_t> is_alive_, is_dead_;
  support::ValueInterner<StateAndSet> reached_;
  Vector<int32_t> sets_, following_;
};

// The distinct pairs of a state and a tree, and all paths through them.
struct Distinct {
  explicit Distinct(Budget& budget)
      : pairs(budget),
        number(budget),
        moves(budget),
        end_of_pair(budget),
        paths(budget) {}
  struct StateTree {
    int32_t source, tree;
    bool operator==(const StateTree&) const = default;
  };
  support::ValueInterner<StateTree> pairs;
  Vector<int32_t> number;    // of each entry
  Vector<EffectPath> moves;  // by pair
  Vector<size_t> end_of_pair;
  Paths paths;
};

void find_distinct(const TokenEffects& effects, Distinct& distinct, Budget& budget) {
  for (const TokenEffect& entry : effects.entries) {
    const auto [number, is_new] = distinct.pairs.intern({entry.source, entry.tree});
    distinct.number.push_back(number);
    if (is_new) add_paths(*effects.trees, entry.tree, distinct.paths, budget);
    while (static_cast<int32_t>(distinct.moves.size()) < distinct.paths.size()) {
      distinct.moves.push_back({entry.source, static_cast<int32_t>(distinct.moves.size())});
    }
    if (is_new) distinct.end_of_pair.push_back(distinct.moves.size());
    budget.spend(16);
  }
}

// Return the remaining tree of each pair: the same one, another one, or kDead.
Vector<int32_t> trees_left(const Distinct& distinct, const ReachabilitySearch& search, TreePool& pool, Budget& budget) {
  Vector<int32_t> left(budget);
  Vector<Part> parts(budget);
  Paths paths(budget);
  TreeBuilder builder(budget);
  size_t begin = 0;
  for (int32_t pair = 0; pair < distinct.pairs.size(); ++pair) {
    const size_t end = distinct.end_of_pair[pair];
    paths.clear();
    for (size_t move = begin; move < end; ++move) {
      const int32_t path = distinct.moves[move].path;
      if (search.is_alive(move)) paths.add(distinct.paths.symbols(path), distinct.paths.leaf(path));
    }
    const int32_t tree = distinct.pairs[pair].tree;
    parts.clear();
    const bool is_whole = static_cast<size_t>(paths.size()) == end - begin;
    if (!is_whole && paths.size()) builder.build(paths, pool, parts);
    left.push_back(is_whole ? tree : parts.empty() ? kDead : pool.tree(parts));
    begin = end;
  }
  return left;
}

// Return the effects with the remaining trees; classes with equal effects are merged.
TokenEffects merged(const TokenEffects& effects, const Distinct& distinct, std::span<const int32_t> left,
                    const TreePool& pool, Budget& budget) {
  Interner<Distinct::StateTree> known(budget);
  Vector<int32_t> number(effects.num_classes, kNever, budget);
  number[kEnd] = kEnd;
  Vector<TokenEffect> entries(budget);
  for (size_t begin = 0, end = 0; begin < effects.entries.size(); begin = end) {
    const int32_t old = effects.entries[begin].number;
    for (; end < effects.entries.size() && effects.entries[end].number == old; ++end) {
      const int32_t tree = left[distinct.number[end]];
      if (tree != kDead) known.push({effects.entries[end].source, tree});
    }
    budget.spend(8 * static_cast<int64_t>(end - begin));
    if (known.open().empty()) continue;
    const auto [found, is_new] = known.close();
    number[old] = kFirstClass + found;
    if (!is_new) continue;
    for (const auto& pair : known[found]) entries.push_back({number[old], pair.source, pair.tree});
  }
  budget.charge(sizeof(TokenEffect) * entries.size() + sizeof(ClassRun) * effects.runs.size());
  std::vector<ClassRun> runs;
  for (const ClassRun& run : effects.runs) runs.push_back({run.end, number[run.number]});
  return {std::move(runs),
          kFirstClass + known.size(),
          {entries.begin(), entries.end()},
          std::make_shared<const Trees>(pool.finish()),
          effects.num_columns,
          effects.column_trees};
}

}  // namespace

Trimmed trimmed(const TokenEffects& effects, const PushdownTables& tables, std::span<const int32_t> overflow,
                Budget& budget) {
  Distinct distinct(budget);
  find_distinct(effects, distinct, budget);
  Vector<uint8_t> is_overflow(tables.num_states, false, budget);
  for (int32_t state : overflow) is_overflow[state] = true;
  const PopDistances pop_distances(tables, budget);
  ReachabilitySearch search(*effects.trees, pop_distances, distinct.moves, distinct.paths, budget);
  const Trim result = search.run(pop_distances, is_overflow);
  if (result != Trim::kDone) return {result, {}};
  TreePool pool(*effects.trees, budget);
  const Vector<int32_t> left = trees_left(distinct, search, pool, budget);
  return {result, merged(effects, distinct, left, pool, budget)};
}

std::optional<int32_t> clashing_class(const PushdownTables& tables, Budget& budget) {
  for (int32_t node = 0; node < tables.num_nodes(); ++node) {
    for (const auto& edge : tables.edges_of(node)) {
      if (tables.moves_of(edge.outcome).size() > 1) return edge.number;
    }
    budget.spend(static_cast<int64_t>(tables.edges_of(node).size()));
  }
  // Return the classes of each node and of all nodes below it, from the deepest up.
  support::Matrix<uint32_t> classes(tables.num_nodes(), support::words_for(tables.num_classes), 0, budget);
  const Depths depths = depths_of(tables);
  for (const int32_t node : std::views::reverse(depths.order)) {
    const auto own = classes[node];
    for (const auto& [symbol, child] : tables.children_of(node)) {
      std::ranges::transform(own, classes[child], own.begin(), std::bit_or());
      budget.spend(static_cast<int64_t>(own.size()) / 4 + 1);
    }
    for (const auto& edge : tables.edges_of(node)) {
      if (support::has_bit(own, static_cast<uint32_t>(edge.number))) return edge.number;
      support::set_bit(own, static_cast<uint32_t>(edge.number));
    }
    budget.spend(1 + static_cast<int64_t>(tables.edges_of(node).size()));
  }
  return std::nullopt;
}

}  // namespace tokenfst
