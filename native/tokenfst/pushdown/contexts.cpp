#include "tokenfst/pushdown/contexts.h"

#include <algorithm>
#include <utility>

#include "support/interner.h"
#include "support/value_interner.h"

namespace tokenfst {

namespace {

using support::Interner;

// A class at a node, and a tree that may apply there.
struct Item {
  int32_t number, tree;
  bool operator==(const Item&) const = default;
};

class ContextNodes {
 public:
  ContextNodes(const Trees& trees, Budget& budget)
      : trees_(trees),
        budget_(budget),
        roots_(budget),
        root_begins_(budget),
        below_(budget),
        child_offsets_(1, 0, budget),
        children_(budget),
        begins_(trees.num_symbols, 0, budget),
        symbols_(budget),
        by_symbol_(budget),
        depth_(budget) {}

  void find(std::span<const TokenEffect> ends, std::span<const TokenEffect> entries) {
    add_roots(ends, entries);
    for (int32_t node = 0; node < size(); ++node) {
      add_children(node);
      child_offsets_.push_back(static_cast<int32_t>(children_.size()));
    }
  }

  int32_t size() const { return trees_.num_states + below_.size(); }
  int32_t depth(int32_t node) const { return depth_[node]; }
  // Return the trees of a node, by class.
  std::span<const Item> items(int32_t node) const {
    if (node < trees_.num_states) {
      return {roots_.data() + root_begins_[node], roots_.data() + root_begins_[node + 1]};
    }
    return below_[node - trees_.num_states].subspan(1);
  }
  std::span<const int32_t> child_offsets() const { return child_offsets_; }
  std::span<const PushdownTables::Child> children() const { return children_; }

 private:
  void add_roots(std::span<const TokenEffect> ends, std::span<const TokenEffect> entries) {
    root_begins_.assign(static_cast<size_t>(trees_.num_states) + 1, 0);
    roots_.resize(ends.size() + entries.size());
    for (const auto part : {ends, entries}) {
      for (const TokenEffect& entry : part) ++root_begins_[entry.source + 1];
    }
    for (int32_t state = 0; state < trees_.num_states; ++state) root_begins_[state + 1] += root_begins_[state];
    Vector<int64_t> at(root_begins_.begin(), root_begins_.end() - 1, budget_);
    for (const auto part : {ends, entries}) {
      for (const TokenEffect& entry : part) roots_[at[entry.source]++] = {entry.number, entry.tree};
      budget_.spend(4 * static_cast<int64_t>(part.size()));
    }
    depth_.assign(trees_.num_states, 0);
  }

  void add_children(int32_t node) {
    sort_by_symbol(node);
    for (size_t place = 0; place < symbols_.size(); ++place) {
      const int32_t symbol = symbols_[place], begin = std::exchange(begins_[symbol], 0);
      const bool is_last = place + 1 == symbols_.size();
      const int32_t end = is_last ? static_cast<int32_t>(by_symbol_.size()) : begins_[symbols_[place + 1]];
      // Nodes of different depths are different nodes.
      below_.push({-depth_[node], kDead});
      for (int32_t at = begin; at < end; ++at) below_.push(by_symbol_[at]);
      const auto [number, is_new] = below_.close();
      if (is_new) depth_.push_back(depth_[node] + 1);
      children_.push_back({symbol, trees_.num_states + number});
      budget_.spend(end - begin);
    }
  }

  // Sort the children of a node's trees by symbol; find the symbols, and where the children of each begin.
  void sort_by_symbol(int32_t node) {
    symbols_.clear();
    int32_t count = 0;
    for_each_child(node, [&](int32_t, const Part& part) {
      if (begins_[part.popped]++ == 0) symbols_.push_back(part.popped);
      ++count;
    });
    budget_.spend(2 * static_cast<int64_t>(items(node).size()) + 8 * std::ssize(symbols_) + 4 * int64_t{count});
    std::ranges::sort(symbols_);
    by_symbol_.resize(count);
    int32_t end = 0;
    for (const int32_t symbol : symbols_) end += begins_[symbol], begins_[symbol] = end;
    for_each_child(node,
                   [&](int32_t number, const Part& part) { by_symbol_[--begins_[part.popped]] = {number, part.to}; });
  }
  // Visit the children from the last to the first.
  template <class Visit>
  void for_each_child(int32_t node, Visit visit) const {
    const auto own = items(node);
    for (size_t item = own.size(); item-- > 0;) {
      const auto parts = trees_[own[item].tree];
      for (size_t part = parts.size(); part-- > 0 && !parts[part].is_leaf();) visit(own[item].number, parts[part]);
    }
  }

  const Trees& trees_;
  Budget& budget_;
  Vector<Item> roots_;  // by state
  Vector<int64_t> root_begins_;
  Interner<Item> below_;  // the trees of a node, after its depth
  Vector<int32_t> child_offsets_;
  Vector<PushdownTables::Child> children_;
  // Scratch of `add_children`: where the children of each symbol begin, 0 between calls; the symbols; and the children.
  Vector<int32_t> begins_;
  Vector<int32_t> symbols_;
  Vector<Item> by_symbol_;
  Vector<int32_t> depth_;
};

// The effects of classes at nodes: moves without duplicates, and outcomes made of them.
class OutcomeTable {
 public:
  struct Move {
    int32_t pops, pushed, target;
    bool operator==(const Move&) const = default;
  };

  OutcomeTable(const Trees& trees, Budget& budget)
      : trees_(trees),
        budget_(budget),
        moves_(budget),
        outcomes_(budget),
        of_tree_(trees.size(), kUnknown, budget),
        found_(budget) {}

  // Return the outcome of a class with these trees at a depth, kDead if it does nothing there. Depths ascend.
  int32_t outcome(int32_t depth, std::span<const Item> items) {
    if (depth != depth_) {
      depth_ = depth;
      std::ranges::fill(of_tree_, kUnknown);
      budget_.spend(trees_.size());
    }
    if (items.size() > 1) return of_leaves(items);
    int32_t& known = of_tree_[items[0].tree];
    if (known == kUnknown) known = of_leaves(items);
    return known;
  }

  int32_t size() const { return outcomes_.size(); }
  int32_t num_moves() const { return moves_.size(); }
  std::span<const int32_t> operator[](int32_t outcome) const { return outcomes_[outcome]; }
  const Move& move(int32_t number) const { return moves_[number]; }
  int64_t num_moves_of_all() const { return outcomes_.num_values(); }

 private:
  int32_t of_leaves(std::span<const Item> items) {
    found_.clear();
    for (const Item& item : items) {
      for (const Part& part : trees_[item.tree]) {
        if (!part.is_leaf()) break;
        found_.push_back(moves_.intern({depth_, part.pushed, part.to}).number);
      }
    }
    budget_.spend(8 * static_cast<int64_t>(found_.size()) + 16);
    if (found_.empty()) return kDead;
    std::ranges::sort(found_);
    const auto repeated = std::ranges::unique(found_);
    return outcomes_.intern({found_.begin(), repeated.begin()}).number;
  }

  const Trees& trees_;
  Budget& budget_;
  support::ValueInterner<Move> moves_;
  Interner<int32_t> outcomes_;
  int32_t depth_ = 0;
  Vector<int32_t> of_tree_;  // of a class with one tree, at this depth
  Vector<int32_t> found_;
};

// Add the edges of all nodes, and their outcomes.
void add_edges(const ContextNodes& nodes, OutcomeTable& outcomes, PushdownTables& tables, Budget& budget) {
  Vector<PushdownTables::Edge> edges(budget);
  tables.row_offsets.push_back(0);
  for (int32_t node = 0; node < nodes.size(); ++node) {
    const auto items = nodes.items(node);
    for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
      while (end < items.size() && items[end].number == items[begin].number) ++end;
      const int32_t outcome = outcomes.outcome(nodes.depth(node), items.subspan(begin, end - begin));
      if (outcome != kDead) edges.push_back({items[begin].number, outcome});
    }
    tables.row_offsets.push_back(static_cast<int32_t>(edges.size()));
    budget.spend(static_cast<int64_t>(items.size()) + 1);
  }
  tables.edges = support::charged_copy(edges, budget);
}

// Return the numbers of sequences in the tables, in the order in which moves push them; the empty one has number 0.
Vector<int32_t> add_pushes(const OutcomeTable& outcomes, const Trees& trees, PushdownTables& tables, Budget& budget) {
  Vector<int32_t> push_of(trees.sequences.size(), kUnknown, budget);
  push_of[SequenceTrie::kEmpty] = 0;
  tables.push_offsets = {0, 0};
  for (int32_t move = 0; move < outcomes.num_moves(); ++move) {
    const int32_t sequence = outcomes.move(move).pushed;
    if (push_of[sequence] != kUnknown) continue;
    push_of[sequence] = static_cast<int32_t>(tables.push_offsets.size()) - 1;
    const auto symbols = trees.symbols(sequence);
    tables.push_symbols.insert(tables.push_symbols.end(), symbols.begin(), symbols.end());
    tables.push_offsets.push_back(static_cast<int32_t>(tables.push_symbols.size()));
    budget.spend(static_cast<int64_t>(symbols.size()) + 8);
  }
  return push_of;
}

// Return how many symbols beyond the height after popping a move needs: for its pushes, for the rest of the rule that
// it leads to, and for the continuation after each pushed symbol has been popped.
int32_t room_of(const PushdownTables& tables, int32_t push, int32_t target, const ContextOptions& options) {
  const auto symbols = tables.pushed(push);
  int32_t needed = static_cast<int32_t>(symbols.size()) + std::max(options.headroom[target], 0);
  for (size_t place = 0; place < symbols.size(); ++place) {
    needed = std::max(needed, static_cast<int32_t>(place) + options.symbol_headroom[symbols[place]]);
  }
  return needed;
}

void add_moves(const OutcomeTable& outcomes, const Trees& trees, const ContextOptions& options, PushdownTables& tables,
               Budget& budget) {
  const Vector<int32_t> push_of = add_pushes(outcomes, trees, tables, budget);
  budget.charge(sizeof(PushdownTables::Move) * outcomes.num_moves_of_all());
  tables.moves.reserve(outcomes.num_moves_of_all());
  tables.outcome_offsets.push_back(0);
  for (int32_t outcome = 0; outcome < outcomes.size(); ++outcome) {
    for (int32_t number : outcomes[outcome]) {
      const auto& move = outcomes.move(number);
      const int32_t push = push_of[move.pushed], room = room_of(tables, push, move.target, options);
      tables.moves.push_back({move.pops, push, move.target, room});
      budget.spend(8 + room);
    }
    tables.outcome_offsets.push_back(static_cast<int32_t>(tables.moves.size()));
  }
}

}  // namespace

PushdownTables context_tables(std::span<const TokenEffect> ends, std::span<const TokenEffect> entries,
                              const Trees& trees, const ContextOptions& options, Budget& budget) {
  ContextNodes nodes(trees, budget);
  nodes.find(ends, entries);
  OutcomeTable outcomes(trees, budget);
  PushdownTables tables{.num_states = trees.num_states,
                        .num_symbols = trees.num_symbols,
                        .num_classes = options.num_classes,
                        .start = options.start,
                        .max_pops = nodes.depth(nodes.size() - 1),
                        .max_configurations = options.max_configurations,
                        .child_offsets = {},
                        .children = {},
                        .row_offsets = {},
                        .edges = {},
                        .outcome_offsets = {},
                        .moves = {},
                        .push_offsets = {},
                        .push_symbols = {}};
  budget.charge(nodes.child_offsets().size_bytes() + nodes.children().size_bytes());
  tables.child_offsets.assign(nodes.child_offsets().begin(), nodes.child_offsets().end());
  tables.children.assign(nodes.children().begin(), nodes.children().end());
  add_edges(nodes, outcomes, tables, budget);
  add_moves(outcomes, trees, options, tables, budget);
  return tables;
}

Vector<TokenEffect> end_effects(const TokenEffects& effects, Budget& budget) {
  Vector<TokenEffect> ends(budget);
  const int32_t last = effects.trees->num_states - 1;
  for (int32_t state = 0; state <= last; ++state) {
    const int32_t tree = effects.column_trees[static_cast<size_t>(state) * effects.num_columns];
    if (tree != kDead) ends.push_back({kEnd, state, tree});
  }
  ends.push_back({kEnd, last, last});
  budget.spend(last + 1);
  return ends;
}

}  // namespace tokenfst
