// Looks at the stack: choices, the branches of a step that depend on what lies below, and returns side by side.
#include <algorithm>
#include <iterator>
#include <utility>

#include "automata/pushdown/determinizer.h"

namespace automata {

namespace {

// A grammar whose steps pop more symbols is not deterministic.
constexpr int32_t kMaxPops = 64;

}  // namespace

// Return the symbol for any of some stacks; note the rules that it may lie under.
int32_t Determinizer::choice(const StackProduct& product) {
  const auto [number, is_new] = choices_.intern(product.stacks);
  const int32_t symbol = network.end_state() + 1 + number;
  Vector<int32_t> lowest(budget_);
  if (product.above.common != Stacks::kEmpty) {
    lowest.push_back(network.rule_of(bottom_of(stacks, product.above.common)));
  } else {
    lowest = lowest_rules(product.above.elements);
  }
  for (int32_t first : lowest) {
    for (int32_t rule : network.called_last(first)) {
      if (!include(choices_under_[rule], symbol)) continue;
      look_again_.insert(look_again_.end(), looks_of_[rule].begin(), looks_of_[rule].end());
      budget_.spend(4 + static_cast<int64_t>(looks_of_[rule].size()));
    }
  }
  return symbol;
}

// Add a branch for each symbol that may lie below.
void Determinizer::look_below(const Task& task, int32_t columns) {
  if (stacks[task.popped].height >= kMaxPops) return stop(Unbounded::kPops, task.elements, task.at);
  const auto look = static_cast<int32_t>(looks_.size());
  looks_.push_back({task.at, task.popped, columns, task.condition, task.outside, task.words_ended, task.elements,
                    Vector<int32_t>(budget_)});
  for (int32_t rule : lowest_rules(task.elements)) looks_of_[rule].push_back(look);
  branch(look);
}

// Add the branches that are missing.
void Determinizer::branch(int32_t number) {
  Look& look = looks_[number];
  const Vector<int32_t> symbols = under_all(lowest_rules(look.elements));
  Vector<int32_t> missing(budget_), together(budget_);
  std::ranges::set_difference(symbols, look.done, std::back_inserter(missing));
  if (missing.empty()) return;
  std::ranges::set_union(look.done, missing, std::back_inserter(together));
  look.done = std::move(together);
  tasks_.push_back({Task::Kind::kLook, look.state, look.popped, look.columns, look.condition, number, look.outside,
                    look.words_ended, 0, Elements(budget_), std::move(missing)});
}

void Determinizer::next_branch(Task task) {
  const int32_t symbol = task.symbols[task.next++];
  Elements above(budget_);
  for (int32_t below : stacks_of(symbol)) {
    for (const auto& [stack, state] : looks_[task.number].elements) {
      above.push_back({stack_on(stacks, below, stack, budget_), state});
    }
  }
  Task below = after_pop(task, symbol, std::move(above));
  if (task.next < task.symbols.size()) tasks_.push_back(std::move(task));
  tasks_.push_back(std::move(below));
}

// Return the exploration of a set after one more symbol has been popped.
Determinizer::Task Determinizer::after_pop(const Task& task, int32_t symbol, Elements elements) {
  return {Task::Kind::kSet,
          task.at,
          stacks.push(symbol, task.popped),
          task.columns,
          task.condition,
          kNone,
          task.outside,
          task.words_ended,
          0,
          std::move(elements),
          Vector<int32_t>(budget_)};
}

// Add the steps through the callers of a rule, one after the other.
void Determinizer::next_return(Task task) {
  if (task.next == 0 && !may_return(task)) return;
  const auto under = network.under(task.number);
  if (under.empty()) return;
  const int32_t symbol = under[task.next++];
  Task below = after_pop(task, symbol, Elements(1, Element{Stacks::kEmpty, symbol}, budget_));
  if (task.next < under.size()) tasks_.push_back(std::move(task));
  tasks_.push_back(std::move(below));
}

// Return whether a chain of returns is followed.
bool Determinizer::may_return(const Task& task) {
  if (static_cast<int64_t>(groups.size()) > options_.max_ways) return stop(Unbounded::kWays, {}, task.at), false;
  if (stacks[task.popped].height <= options_.max_configurations) return true;
  Vector<int32_t> popped = symbols_of(stacks, task.popped, budget_);
  std::ranges::sort(popped);
  if (std::ranges::adjacent_find(popped) == popped.end()) return true;
  give_up(task, task.columns);
  return false;
}

// Add the steps to more states than may be carried.
void Determinizer::give_up(const Task& task, int32_t columns) {
  if (too_many.empty()) {
    const int32_t last = place(network.end_state(), task.at);
    const int32_t end = sets.one(network.end_column()), others = sets.without(sets.all(), end);
    const Element after_end{Stacks::kEmpty, network.end_state()};
    for (int32_t count = 0; count <= options_.max_configurations; ++count) {
      const int32_t state = new_state({&after_end, 1}, task.at);
      too_many.push_back(state);
      groups.push_back({state, 0, 0, last, end, false});
      groups.push_back({state, 0, 0, state, others, false});
    }
  }
  const int32_t popped = sequences.of(task.popped);
  for (int32_t state : too_many) groups.push_back({task.at, popped, 0, state, columns, false});
}

}  // namespace automata
