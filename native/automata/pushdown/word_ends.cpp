// The ends of words: over columns that no word reads, and provisionally within characters.
#include <algorithm>
#include <utility>

#include "automata/pushdown/determinizer.h"

namespace automata {

// Return what a state reads a column to, on a condition or without one.
int32_t Determinizer::target(int32_t state, int32_t column, int32_t condition) {
  const int32_t found = network.row(state)[column];
  if (found == kNone || condition == kNone || provisional_.is_reader(state)) return found;
  return provisional_.state_on(found, condition);
}

// Return whether a word can begin where another one is open that began earlier, so that one of them may decide where
// the other ends. Nothing is decided if both lead to the same, as with blanks before a grammar that ignores blanks.
bool Determinizer::begins_beside_word(const Task& task) {
  if (task.words_ended) return false;
  Elements open(budget_), others(budget_);
  for (const Element& element : task.elements) {
    // What was read last was a byte of a word, a label, or a byte beside words.
    const bool is_open = network.is_in_words(element.state) && !network.is_after_label(element.state);
    (is_open ? open : others).push_back(element);
  }
  if (open.empty() || others.empty()) return false;
  Vector<Leaf> begun = leaves_of(others).leaves;
  std::erase_if(begun, [&](const Leaf& leaf) { return !network.is_in_words(leaf.state); });
  if (begun.empty()) return false;
  const Leaves within = leaves_of(open), after = leaves_of(after_words(within.leaves));
  int32_t returns = ColumnSets::kEmpty;
  for (const int32_t rule : after.ends) returns = sets.either(returns, network.first(rule));
  // Reading may not lead from `some` to anything that it does not lead to from `all`.
  const auto is_new = [&](std::span<const Leaf> some, std::span<const Leaf> all, int32_t column) {
    return std::ranges::any_of(some, [&](const Leaf& leaf) {
      const int32_t reached = network.row(leaf.state)[column];
      return reached != kNone && std::ranges::none_of(all, [&](const Leaf& other) {
               return other.pushed == leaf.pushed && network.row(other.state)[column] == reached;
             });
    });
  };
  const auto reads = [&](std::span<const Leaf> leaves, int32_t column) {
    return std::ranges::any_of(leaves, [&](const Leaf& leaf) { return network.row(leaf.state)[column] != kNone; });
  };
  for (int32_t column = 0; column < sets.num_columns(); ++column) {
    if (!reads(begun, column)) continue;
    budget_.spend(static_cast<int64_t>(begun.size() * (within.leaves.size() + after.leaves.size())));
    const bool continues = reads(within.leaves, column) && is_new(begun, within.leaves, column);
    const bool ends = is_new(after.leaves, begun, column) || sets.both(returns, sets.one(column)) != ColumnSets::kEmpty;
    if (continues || ends) return true;
  }
  return false;
}

// Return where the text continues after the words of the highest priority; nothing if none can end.
Elements Determinizer::after_words(std::span<const Leaf> leaves) {
  int32_t best = kNone;
  for (const Leaf& leaf : leaves) {
    const auto words = network.words(leaf.state);
    if (!words.empty() && (best == kNone || words.front().word < best)) best = words.front().word;
  }
  Elements elements(budget_);
  if (best == kNone) return elements;
  for (const Leaf& leaf : leaves) {
    for (const auto& [word, target] : network.words(leaf.state)) {
      if (word == best) elements.push_back({leaf.pushed, target});
    }
  }
  sort_unique(stacks, elements, budget_);
  return elements;
}

// End words that end as soon as they can; what is read beside words is still read.
void Determinizer::end_at_once(const Leaves& found, const Task& task) {
  Elements elements = after_words(found.leaves);
  const size_t num_ended = elements.size();
  for (const Leaf& leaf : found.leaves) {
    if (network.is_in_words(leaf.state) || leaf.columns == ColumnSets::kEmpty) continue;
    elements.push_back({leaf.pushed, provisional_.reader(leaf.state)});
  }
  for (const Element& element : task.elements) {
    if (!network.is_in_words(element.state)) elements.push_back(element);
  }
  if (elements.size() == num_ended) return end_words(found.leaves, task, task.columns);
  sort_unique(stacks, elements, budget_);
  push_set(task.at, task.popped, task.columns, std::move(elements), true, task.condition);
}

// End words over columns that neither words nor anything else reads.
void Determinizer::end_words(std::span<const Leaf> leaves, const Task& task, int32_t columns) {
  Elements elements = after_words(leaves);
  if (elements.empty()) return;
  // A state may share the steps of a state that shares none itself.
  if (task.popped != Stacks::kEmpty || is_boundary_[task.at] || task.condition != kNone) {
    push_set(task.at, task.popped, columns, std::move(elements), true, task.condition);
  } else {
    shared.push_back({task.at, boundary(elements, columns, task.at)});
  }
}

// End words over columns that are only read beside words, where the text can continue after the words as well; return
// these columns.
int32_t Determinizer::end_beside(std::span<const Leaf> leaves, const Task& task, int32_t columns) {
  if (columns == ColumnSets::kEmpty || task.condition != kNone) return ColumnSets::kEmpty;
  const Elements ended = after_words(leaves);
  if (ended.empty()) return ColumnSets::kEmpty;
  const Leaves after = leaves_of(ended);
  int32_t read = ColumnSets::kEmpty;
  for (const Leaf& leaf : after.leaves) read = sets.either(read, leaf.columns);
  for (int32_t rule : after.ends) read = sets.either(read, network.first(rule));
  const int32_t both_ways = sets.both(columns, read);
  if (both_ways != ColumnSets::kEmpty) continue_both_ways(leaves, ended, task, both_ways, kNone);
  return both_ways;
}

// End words over columns that words read, where these begin other characters as well; return these columns.
int32_t Determinizer::end_provisionally(std::span<const Leaf> leaves, const Task& task, int32_t columns) {
  columns = sets.both(columns, provisional_.first_bytes());
  if (columns == ColumnSets::kEmpty || task.condition != kNone) return ColumnSets::kEmpty;
  const Elements ended = after_words(leaves);
  if (ended.empty()) return ColumnSets::kEmpty;
  int32_t provisional = ColumnSets::kEmpty;
  for (const auto& [condition, over] : conditions_over(leaves, leaves_of(ended), columns)) {
    continue_both_ways(leaves, ended, task, over, condition);
    provisional = sets.either(provisional, over);
  }
  return provisional;
}

// Return the conditions on which the text can continue after words, each with its columns.
Vector<Determinizer::OverColumns> Determinizer::conditions_over(std::span<const Leaf> leaves, const Leaves& after,
                                                                int32_t columns) {
  int32_t read = ColumnSets::kEmpty, in_callers = ColumnSets::kEmpty;
  for (const Leaf& leaf : after.leaves) read = sets.either(read, leaf.columns);
  for (int32_t rule : after.ends) in_callers = sets.either(in_callers, network.first(rule));
  Vector<int32_t> both_read(budget_);
  sets.visit(sets.both(columns, sets.either(read, in_callers)), [&](int32_t column) { both_read.push_back(column); });
  Vector<OverColumns> found(budget_);
  for (int32_t column : both_read) {
    const int32_t condition = continued_by(leaves, column), one = sets.one(column);
    const bool by_callers = sets.both(in_callers, one) != ColumnSets::kEmpty;
    if (!reads_on(after.leaves, column, condition) && !(by_callers && provisional_.any_reads(column, condition))) {
      continue;
    }
    const auto known = std::ranges::find(found, condition, &OverColumns::condition);
    if (known == found.end()) {
      found.push_back({condition, one});
    } else {
      known->columns = sets.either(known->columns, one);
    }
  }
  return found;
}

// Return the condition that a character with this first byte continues none of the words that read it.
int32_t Determinizer::continued_by(std::span<const Leaf> leaves, int32_t column) {
  Vector<int32_t> reached(budget_);
  for (const Leaf& leaf : leaves) {
    const int32_t target = network.row(leaf.state)[column];
    if (target != kNone && network.is_in_words(leaf.state)) reached.push_back(target);
  }
  budget_.spend(4 * static_cast<int64_t>(leaves.size()));
  return provisional_.condition(column, std::move(reached));
}

// Return whether some leaf reads a column on a condition.
bool Determinizer::reads_on(std::span<const Leaf> leaves, int32_t column, int32_t condition) {
  return std::ranges::any_of(leaves, [&](const Leaf& leaf) {
    const int32_t reached = network.row(leaf.state)[column];
    return reached != kNone && provisional_.reads(reached, condition);
  });
}

// Read on what leaves read, and after words, perhaps on a condition.
void Determinizer::continue_both_ways(std::span<const Leaf> leaves, Elements elements, const Task& task,
                                      int32_t columns, int32_t condition) {
  // Side by side, what leaves read has been read on already.
  if (!options_.side_by_side) {
    for (const Leaf& leaf : leaves) {
      if (sets.both(leaf.columns, columns) == ColumnSets::kEmpty) continue;
      elements.push_back({leaf.pushed, provisional_.reader(leaf.state)});
    }
    sort_unique(stacks, elements, budget_);
  }
  push_set(task.at, task.popped, columns, std::move(elements), true, condition);
}

// Return the state after some words over some columns; its steps are found or scheduled.
int32_t Determinizer::boundary(const Elements& elements, int32_t columns, int32_t from) {
  known_boundaries_.discard();
  known_boundaries_.push(columns);
  for (const auto& [stack, state] : elements) known_boundaries_.push(stack), known_boundaries_.push(state);
  const auto [number, is_new] = known_boundaries_.close();
  if (!is_new) return state_of_boundary_[number];
  const int32_t state = new_state(elements, from);
  state_of_boundary_.push_back(state);
  is_boundary_[state] = true;
  push_set(state, Stacks::kEmpty, columns, elements, true);
  return state;
}

}  // namespace automata
