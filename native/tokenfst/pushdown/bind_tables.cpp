// Bindings of the tables of automata with a stack and of their construction.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/pushdown/contexts.h"
#include "tokenfst/pushdown/distance.h"
#include "tokenfst/pushdown/token_effects.h"
#include "tokenfst/pushdown/tree_builder.h"
#include "tokenfst/pushdown/trim.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using SharedTrees = std::shared_ptr<const Trees>;
using SharedTables = std::shared_ptr<const PushdownTables>;

constexpr int32_t kMaxRoom = 1 << 30;
// Tables may have this many symbols that no token pushes or pops. All symbols take memory.
constexpr int64_t kMaxUnused = 1 << 16;

// Effects.

TokenEffects make_effects(Values<int32_t> run_end, Values<int32_t> run_class, int32_t num_classes,
                          Records<TokenEffect> entries, SharedTrees trees, Grid<int32_t> column_trees) {
  require(num_classes >= kFirstClass, "there are at least the classes of no token and of the end");
  require(column_trees.rows == static_cast<size_t>(trees->num_states) && column_trees.columns > 0,
          "there is a row of trees for each state, and a column for the end");
  require_within(column_trees.values, kDead, trees->size(), "tree");
  TokenEffects effects{runs_of(run_end, run_class, num_classes), num_classes, {}, trees, column_trees.columns, {}};
  int32_t before = kFirstClass;
  for (const TokenEffect& entry : entries) {
    require(before <= entry.number && entry.number < num_classes, "the classes of effects do not ascend");
    require(0 <= entry.source && entry.source < trees->num_states, "an effect is of no state");
    require(0 <= entry.tree && entry.tree < trees->size(), "an effect has no tree");
    before = entry.number;
  }
  effects.entries.assign(entries.begin(), entries.end());
  effects.column_trees.assign(column_trees.values.begin(), column_trees.values.end());
  return effects;
}

using Numbers = nb::typed<nb::tuple, int, nb::ellipsis>;

Numbers to_tuple(std::span<const int32_t> values) {
  nb::list found;
  for (int32_t value : values) found.append(value);
  return nb::tuple(found);
}

nb::typed<nb::list, std::tuple<Numbers, Numbers, int>> paths_of(const Trees& trees, int32_t tree, Budget& budget) {
  require_within(tree, 0, trees.size(), "tree");
  Paths paths(budget);
  unlocked([&] { add_paths(trees, tree, paths, budget); });
  nb::list found;
  for (int32_t path = 0; path < paths.size(); ++path) {
    const Part& leaf = paths.leaf(path);
    found.append(nb::make_tuple(to_tuple(paths.symbols(path)), to_tuple(trees.symbols(leaf.pushed)), leaf.to));
  }
  return found;
}

using TreePath = std::tuple<std::vector<int32_t>, std::vector<int32_t>, int32_t>;

std::pair<SharedTrees, std::vector<int32_t>> build_trees(const Trees& trees,
                                                         const std::vector<std::vector<TreePath>>& all,
                                                         Budget& budget) {
  TreePool pool(trees, budget);
  TreeBuilder builder(budget);
  Paths paths(budget);
  Vector<Part> parts(budget);
  std::vector<int32_t> numbers;
  for (const auto& tree_paths : all) {
    require(!tree_paths.empty(), "a tree has no path");
    paths.clear(), parts.clear();
    for (const auto& [popped, pushed, state] : tree_paths) {
      require_within(popped, 0, trees.num_symbols, "symbol");
      require_within(pushed, 0, trees.num_symbols, "symbol");
      require_within(state, 0, trees.num_states, "state");
      paths.add(popped, Part::leaf(pool.sequences().extended(SequenceTrie::kEmpty, pushed), state));
    }
    builder.build(paths, pool, parts);
    numbers.push_back(pool.tree(parts));
  }
  return {std::make_shared<const Trees>(pool.finish()), numbers};
}

// Tables.

SharedTables tables_of(const TokenEffects& effects, int32_t start, int32_t max_configurations, Values<int32_t> headroom,
                       Values<int32_t> symbol_headroom, Budget& budget) {
  const Trees& trees = *effects.trees;
  require_within(start, 0, trees.num_states, "start");
  require(max_configurations >= 1, "there is at least one configuration");
  require(headroom.size() == static_cast<size_t>(trees.num_states) &&
              symbol_headroom.size() == static_cast<size_t>(trees.num_symbols),
          "each state and each symbol has its headroom");
  require_within(headroom, -kMaxRoom, kMaxRoom, "headroom");
  require_within(symbol_headroom, -kMaxRoom, kMaxRoom, "headroom");
  const ContextOptions options{effects.num_classes, start, max_configurations, headroom, symbol_headroom};
  return unlocked([&] {
    const auto ends = end_effects(effects, budget);
    return std::make_shared<const PushdownTables>(context_tables(ends, effects.entries, trees, options, budget));
  });
}

void require_shapes(const PushdownTables& tables) {
  const auto num_nodes = static_cast<size_t>(tables.num_nodes());
  require(0 < tables.num_states && tables.num_states <= tables.num_nodes() && tables.num_symbols >= 0,
          "there are states, and a node for each");
  require_within(tables.start, 0, tables.num_states, "start");
  require(tables.num_classes >= kFirstClass && tables.max_configurations >= 1, "there are classes and configurations");
  require_offsets(tables.child_offsets, num_nodes, tables.children.size(), "`child_offsets`");
  require_offsets(tables.row_offsets, num_nodes, tables.edges.size(), "`row_offsets`");
  const size_t num_outcomes = tables.outcome_offsets.size() - 1, num_pushes = tables.push_offsets.size() - 1;
  require_offsets(tables.outcome_offsets, num_outcomes, tables.moves.size(), "`outcome_offsets`");
  require_offsets(tables.push_offsets, num_pushes, tables.push_symbols.size(), "`push_offsets`");
  require(num_pushes > 0, "there is an empty sequence");
  require_within(tables.push_symbols, 0, tables.num_symbols, "symbol");
  for (size_t outcome = 0; outcome < num_outcomes; ++outcome) {
    const int32_t count = tables.outcome_offsets[outcome + 1] - tables.outcome_offsets[outcome];
    require(count == 1 || (count > 1 && tables.max_configurations > 1), "an outcome has a move");
  }
  for (const auto& move : tables.moves) {
    require_within(move.push, 0, static_cast<int64_t>(num_pushes), "push");
    require_within(move.target, 0, tables.num_states, "state");
    require(0 <= move.pops && move.pops <= tables.max_pops, "a move pops more symbols than nodes are deep");
    require(0 <= move.room && move.room < kMaxRoom, "a move needs no such room");
  }
}

void require_children(const PushdownTables& tables) {
  for (int32_t node = 0; node < tables.num_nodes(); ++node) {
    int32_t before = -1;
    for (const auto& [symbol, below] : tables.children_of(node)) {
      require(before < symbol && symbol < tables.num_symbols, "the symbols of a node's children do not ascend");
      require_within(below, 0, tables.num_nodes(), "node");
      before = symbol;
    }
  }
}

void require_edges(const PushdownTables& tables) {
  for (int32_t node = 0; node < tables.num_nodes(); ++node) {
    int32_t before = -1;
    for (const auto& edge : tables.edges_of(node)) {
      require(before < edge.number && edge.number < tables.num_classes, "the classes of a node do not ascend");
      require_within(edge.outcome, 0, tables.num_outcomes(), "outcome");
      before = edge.number;
    }
  }
}

// Require that no node is deeper than `max_pops`, and that no move pops more symbols than lead to its node.
void require_depths(const PushdownTables& tables) {
  const Depths depths = depths_of(tables);
  require(!depths.order.empty(), "the nodes are not trees");
  for (int32_t node : depths.order) {
    require(depths.most[node] <= tables.max_pops, "a node is deeper than the deepest one");
    for (const auto& edge : tables.edges_of(node)) {
      for (const auto& move : tables.moves_of(edge.outcome)) {
        require(move.pops <= depths.least[node], "a move pops more symbols than lead to it");
      }
    }
  }
}

SharedTables make_tables(int32_t num_states, int32_t num_symbols, int32_t num_classes, int32_t start,
                         Values<int32_t> child_offsets, Values<int32_t> child_symbol, Values<int32_t> child_node,
                         int32_t max_pops, Values<int32_t> row_offsets, Values<int32_t> edge_class,
                         Values<int32_t> edge_outcome, Values<int32_t> outcome_offsets, Values<int32_t> move_pops,
                         Values<int32_t> move_push, Values<int32_t> move_target, Values<int32_t> move_room,
                         Values<int32_t> push_offsets, Values<int32_t> push_symbols, int32_t max_configurations) {
  for (const size_t size : {child_offsets.size(), child_node.size(), edge_class.size(), move_pops.size(),
                            push_symbols.size(), outcome_offsets.size(), push_offsets.size()}) {
    require_countable(size, "a table");
  }
  require(edge_class.size() == edge_outcome.size(), "an edge has a class and an outcome");
  require(move_pops.size() == move_push.size() && move_pops.size() == move_target.size() &&
              move_pops.size() == move_room.size(),
          "a move has pops, a push, a target and room");
  require(child_symbol.size() == child_node.size(), "a child has a symbol and a node");
  require(num_symbols <= static_cast<int64_t>(child_symbol.size() + push_symbols.size()) + kMaxUnused,
          "there are more symbols than tokens push and pop");
  require(row_offsets.size() == child_offsets.size(), "there are children and edges for each node");
  require(!child_offsets.empty() && !outcome_offsets.empty() && !push_offsets.empty(), "offsets begin with 0");
  PushdownTables tables{num_states, num_symbols, num_classes, start, max_pops, max_configurations, {}, {}, {},
                        {},         {},          {},          {},    {}};
  tables.child_offsets.assign(child_offsets.begin(), child_offsets.end());
  for (size_t child = 0; child < child_node.size(); ++child)
    tables.children.push_back({child_symbol[child], child_node[child]});
  tables.row_offsets.assign(row_offsets.begin(), row_offsets.end());
  tables.outcome_offsets.assign(outcome_offsets.begin(), outcome_offsets.end());
  tables.push_offsets.assign(push_offsets.begin(), push_offsets.end());
  tables.push_symbols.assign(push_symbols.begin(), push_symbols.end());
  for (size_t edge = 0; edge < edge_class.size(); ++edge)
    tables.edges.push_back({edge_class[edge], edge_outcome[edge]});
  for (size_t move = 0; move < move_pops.size(); ++move) {
    tables.moves.push_back({move_pops[move], move_push[move], move_target[move], move_room[move]});
  }
  require_shapes(tables);
  require_children(tables);
  require_edges(tables);
  require_depths(tables);
  return std::make_shared<const PushdownTables>(std::move(tables));
}

const PushdownTables& tables_in(nb::handle self) { return nb::cast<const PushdownTables&>(self); }

// Return a property that shows one member of all records as a column, without a copy.
template <class Record>
auto shown_column(const std::vector<Record> PushdownTables::* records, int32_t Record::* member) {
  return [records, member](nb::handle_t<PushdownTables> self) {
    const std::vector<Record>& all = tables_in(self).*records;
    static const Record none{};
    const int32_t* data = &((all.empty() ? &none : all.data())->*member);
    const size_t size = all.size();
    const int64_t stride = sizeof(Record) / sizeof(int32_t);
    return nb::ndarray<nb::numpy, const int32_t>(data, 1, &size, self, &stride);
  };
}

auto trim(const TokenEffects& effects, const PushdownTables& tables, Values<int32_t> overflow, Budget& budget) {
  require(tables.num_states == effects.trees->num_states && tables.num_symbols == effects.trees->num_symbols,
          "the tables are of other effects");
  require_within(overflow, 0, tables.num_states, "state");
  auto found = unlocked([&] { return trimmed(effects, tables, overflow, budget); });
  const char* const names[] = {"done", "empty", "depends on the stack"};
  std::optional<TokenEffects> left;
  if (found.result == Trim::kDone) left = std::move(found.effects);
  return std::make_tuple(names[static_cast<int>(found.result)], std::move(left));
}

auto all_pop_distances(const PushdownTables& tables, Budget& budget) {
  std::vector<int32_t> across, nodes, offsets{0};
  unlocked([&] {
    const PopDistances pop_distances(tables, budget, true);
    for (int32_t symbol = 0; symbol < tables.num_symbols; ++symbol) {
      for (const auto& popped : pop_distances.columns().of(symbol)) nodes.push_back(popped.kind);
      offsets.push_back(static_cast<int32_t>(nodes.size()));
    }
    const size_t size = (nodes.size() + 1) * static_cast<size_t>(tables.num_nodes());
    budget.charge(4 * size);
    across.reserve(size);
    for (int32_t node = 0; node < tables.num_nodes(); ++node) {
      for (int32_t symbol = 0; symbol < tables.num_symbols; ++symbol) {
        for (const auto& popped : pop_distances.columns().of(symbol))
          across.push_back(pop_distances.across(node, symbol, popped));
      }
      across.push_back(pop_distances.to_end(node));
      budget.spend(4 * static_cast<int64_t>(nodes.size()) + 1);
    }
  });
  const auto rows = static_cast<size_t>(tables.num_nodes());
  const size_t columns = nodes.size() + 1;
  return std::make_tuple(owned(std::move(across), {rows, columns}), array(std::move(nodes)), array(std::move(offsets)));
}

void bind_effects(nb::module_& m) {
  nb::class_<Trees>(m, "PushdownTrees", "The effects of texts on a state and a stack, as trees of popped symbols.")
      .def("__len__", &Trees::size)
      .def("paths", &paths_of, "tree"_a, "budget"_a,
           "Return all paths through a tree: the symbols popped, from the top of the stack down, the symbols pushed, "
           "the last one on top, and the next state.")
      .def("build", &build_trees, "paths"_a, "budget"_a,
           "Return these trees together with one for each list of paths, and the numbers of the latter.");
  nb::class_<TokenEffects> effects(m, "TokenEffects",
                                   "The effect of each class of a vocabulary under a pushdown automaton.");
  def_runs(effects, [](const TokenEffects& self) -> const auto& { return self.runs; })
      .def(nb::new_(&make_effects), "run_end"_a, "run_class"_a, "num_classes"_a, "entries"_a, "trees"_a,
           "column_trees"_a)
      .def_ro("num_classes", &TokenEffects::num_classes)
      .def_prop_ro(
          "entries", [](const TokenEffects& e) { return records(e.entries); }, nb::rv_policy::move,
          "Class, source and tree, `[E, 3]`.")
      .def_prop_ro("trees", [](const TokenEffects& e) { return e.trees; })
      .def_prop_ro(
          "column_trees",
          [](const TokenEffects& e) { return grid(e.column_trees, e.trees->num_states, e.num_columns); },
          nb::rv_policy::move, "The tree of each state for the end of the text and for each label, `[Q, 1 + L]`.");
  m.def(
      "token_effects",
      [](const automata::PushdownTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
        return unlocked([&] { return token_effects(automaton, vocabulary, budget); });
      },
      "automaton"_a, "vocabulary"_a, "budget"_a,
      "Sort the tokens of a vocabulary into classes by their effects on a state and a stack.");
}

}  // namespace

void bind_pushdown_tables(nb::module_& m) {
  bind_effects(m);
  using Child = PushdownTables::Child;
  using Edge = PushdownTables::Edge;
  using Move = PushdownTables::Move;
  nb::class_<PushdownTables>(m, "PushdownTables", "The effect of each class of tokens on a state and a stack.")
      .def(nb::new_(&make_tables), "num_states"_a, "num_symbols"_a, "num_classes"_a, "start"_a, "child_offsets"_a,
           "child_symbol"_a, "child_node"_a, "max_pops"_a, "row_offsets"_a, "edge_class"_a, "edge_outcome"_a,
           "outcome_offsets"_a, "move_pops"_a, "move_push"_a, "move_target"_a, "move_room"_a, "push_offsets"_a,
           "push_symbols"_a, "max_configurations"_a = 1)
      .def_ro("num_states", &PushdownTables::num_states)
      .def_ro("num_symbols", &PushdownTables::num_symbols)
      .def_ro("num_classes", &PushdownTables::num_classes)
      .def_ro("start", &PushdownTables::start)
      .def_ro("max_pops", &PushdownTables::max_pops)
      .def_ro("max_configurations", &PushdownTables::max_configurations)
      .def_prop_ro("nbytes", &PushdownTables::num_bytes)
      .def_prop_ro("num_nodes", &PushdownTables::num_nodes)
      .def_prop_ro("child_offsets", &shown<&PushdownTables::child_offsets>)
      .def_prop_ro("child_symbol", shown_column(&PushdownTables::children, &Child::symbol))
      .def_prop_ro("child_node", shown_column(&PushdownTables::children, &Child::node))
      .def_prop_ro("row_offsets", &shown<&PushdownTables::row_offsets>)
      .def_prop_ro("edge_class", shown_column(&PushdownTables::edges, &Edge::number))
      .def_prop_ro("edge_outcome", shown_column(&PushdownTables::edges, &Edge::outcome))
      .def_prop_ro("outcome_offsets", &shown<&PushdownTables::outcome_offsets>)
      .def_prop_ro("move_pops", shown_column(&PushdownTables::moves, &Move::pops))
      .def_prop_ro("move_push", shown_column(&PushdownTables::moves, &Move::push))
      .def_prop_ro("move_target", shown_column(&PushdownTables::moves, &Move::target))
      .def_prop_ro("move_room", shown_column(&PushdownTables::moves, &Move::room))
      .def_prop_ro("push_offsets", &shown<&PushdownTables::push_offsets>)
      .def_prop_ro("push_symbols", &shown<&PushdownTables::push_symbols>);
  m.def("context_tables", &tables_of, "effects"_a, "start"_a, "max_configurations"_a, "headroom"_a, "symbol_headroom"_a,
        "budget"_a, "Return the tables of the effects, including that of the end tokens.");
  m.def("trimmed", &trim, "effects"_a, "tables"_a, "overflow"_a, "budget"_a,
        "Keep the effects after which tokens lead to an end. Return `done` and these effects; or `empty` or `depends "
        "on the stack`, and None.");
  m.def(
      "clashing_class",
      [](const PushdownTables& tables, Budget& budget) {
        return unlocked([&] { return clashing_class(tables, budget); });
      },
      "tables"_a, "budget"_a, "Return a class that has two moves in one configuration, or None.");
  m.def("pop_distances", &all_pop_distances, "tables"_a, "budget"_a,
        "Return the least numbers of tokens from each node until a symbol has been popped, `[N, columns]`, the last "
        "column being for the end; the node that each column leads to; and where the columns of each symbol begin.");
}

}  // namespace tokenfst
