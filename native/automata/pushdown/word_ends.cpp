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

// Return whether a word can begin where another one of its lexer is open that began in another division of the text, so
// that one of them may decide where the other ends. Nothing is decided if both lead to the same, as with blanks before
// a grammar that ignores blanks.
bool Determinizer::begins_beside_word(const Task& task) {
  if (task.words_ended || task.elements.size() < 2) return false;
  const bool all_open = std::ranges::all_of(task.elements, [&](const Element& element) {
    return network.is_in_words(element.state) && !network.is_after_label(element.state);
  });
  if (all_open && !network.has_several_lexers()) return false;
  const Vector<Leaf> leaves = leaves_of(task.elements).leaves;
  return std::ranges::any_of(lexers_of(leaves), [&](int32_t lexer) { return begins_beside_word(task, lexer); });
}

bool Determinizer::begins_beside_word(const Task& task, int32_t lexer) {
  // What was read last was a byte of a word, a label, or a byte beside words.
  const auto is_open = [&](int32_t state) {
    return network.is_in_words(state) && network.lexer(state) == lexer && !network.is_after_label(state);
  };
  Elements open(budget_), others(budget_);
  for (const Element& element : task.elements) (is_open(element.state) ? open : others).push_back(element);
  if (open.empty() || others.empty()) return false;
  const Vector<Leaf> beside = leaves_of(others).leaves;
  Vector<Leaf> begun = of_lexer(beside, lexer);
  // Words of other lexers may end here, and words of this one begin after them.
  for (const int32_t other : lexers_of(beside)) {
    if (other == lexer) continue;
    const Vector<Leaf> more = of_lexer(leaves_of(after_words_of_one(of_lexer(beside, other))).leaves, lexer);
    begun.insert(begun.end(), more.begin(), more.end());
  }
  if (begun.empty()) return false;
  const Vector<Leaf> within = of_lexer(leaves_of(open).leaves, lexer);
  const Leaves after = leaves_of(after_words_of_one(within));
  const int32_t returns = first(after, kNone);
  const bool is_lazy = ends_lazily(within);
  const auto reads = [&](std::span<const Leaf> leaves, int32_t column) {
    return std::ranges::any_of(leaves, [&](const Leaf& leaf) { return network.row(leaf.state)[column] != kNone; });
  };
  // Return whether reading leads from some leaves to anything that it does not lead to from others.
  const auto is_new = [&](std::span<const Leaf> some, std::span<const Leaf> all, int32_t column) {
    return std::ranges::any_of(some, [&](const Leaf& leaf) {
      const int32_t reached = network.row(leaf.state)[column];
      return reached != kNone && std::ranges::none_of(all, [&](const Leaf& other) {
               return other.pushed == leaf.pushed && network.row(other.state)[column] == reached;
             });
    });
  };
  for (int32_t column = 0; column < sets.num_columns(); ++column) {
    if (!reads(begun, column)) continue;
    budget_.spend(static_cast<int64_t>(begun.size() * (within.size() + after.leaves.size())));
    const bool is_read_on = !is_lazy && reads(within, column);
    const std::span<const Leaf> leaves = is_read_on ? within : after.leaves;
    if (!is_read_on && sets.both(returns, sets.one(column)) != ColumnSets::kEmpty) return true;
    if (reads(leaves, column) && (is_new(begun, leaves, column) || is_new(leaves, begun, column))) return true;
  }
  return false;
}

// Return the leaves in words of a lexer.
Vector<Leaf> Determinizer::of_lexer(std::span<const Leaf> leaves, int32_t lexer) const {
  Vector<Leaf> found(budget_);
  for (const Leaf& leaf : leaves) {
    if (network.is_in_words(leaf.state) && network.lexer(leaf.state) == lexer) found.push_back(leaf);
  }
  return found;
}

// Return the columns that some of the leaves read.
int32_t Determinizer::columns_of(std::span<const Leaf> leaves) {
  int32_t found = ColumnSets::kEmpty;
  for (const Leaf& leaf : leaves) found = sets.either(found, leaf.columns);
  return found;
}

// Return the lexers of the leaves in words, ascending.
Vector<int32_t> Determinizer::lexers_of(std::span<const Leaf> leaves) const {
  Vector<int32_t> found(budget_);
  for (const Leaf& leaf : leaves) {
    if (network.is_in_words(leaf.state)) include(found, network.lexer(leaf.state));
  }
  return found;
}

// Return where the text continues after the words of the highest priority of each lexer; nothing if none can end.
Elements Determinizer::after_words(std::span<const Leaf> leaves) {
  if (!network.has_several_lexers()) return after_words_of_one(leaves);
  Elements elements(budget_);
  for (const int32_t lexer : lexers_of(leaves)) {
    const Elements more = after_words_of_one(of_lexer(leaves, lexer));
    elements.insert(elements.end(), more.begin(), more.end());
  }
  sort_unique(stacks, elements, budget_);
  return elements;
}

// The same for the words of one lexer.
Elements Determinizer::after_words_of_one(std::span<const Leaf> leaves) {
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

// End words that end as soon as they can; what is read beside words, or in words of other lexers, is still read.
void Determinizer::end_at_once(const Leaves& found, const Task& task) {
  Vector<int32_t> lazy(budget_);
  for (const Leaf& leaf : found.leaves) {
    if (network.ends_lazily(leaf.state)) include(lazy, network.lexer(leaf.state));
  }
  const auto is_lazy = [&](int32_t state) {
    return network.is_in_words(state) && std::ranges::binary_search(lazy, network.lexer(state));
  };
  Elements elements(budget_);
  for (const int32_t lexer : lazy) {
    const Elements more = after_words_of_one(of_lexer(found.leaves, lexer));
    elements.insert(elements.end(), more.begin(), more.end());
  }
  const size_t num_ended = elements.size();
  for (const Leaf& leaf : found.leaves) {
    if (is_lazy(leaf.state) || leaf.columns == ColumnSets::kEmpty) continue;
    elements.push_back({leaf.pushed, provisional_.reader(leaf.state)});
  }
  for (const Element& element : task.elements) {
    if (!is_lazy(element.state)) elements.push_back(element);
  }
  if (elements.size() == num_ended) return end_words(found.leaves, task, task.columns);
  sort_unique(stacks, elements, budget_);
  push_set(task, task.columns, std::move(elements), true, task.condition, task.outside);
}

// End words over columns that neither words nor anything else reads.
void Determinizer::end_words(std::span<const Leaf> leaves, const Task& task, int32_t columns) {
  Elements elements = after_words(leaves);
  if (elements.empty()) return;
  // A state may share the steps of a state that shares none itself.
  const bool is_restricted = task.condition != kNone || task.outside != kNone;
  if (task.popped != Stacks::kEmpty || is_boundary_[task.at] || is_restricted) {
    push_set(task, columns, std::move(elements), true, task.condition, task.outside);
  } else {
    shared.push_back({task.at, boundary(elements, columns, task.at)});
  }
}

// End words over columns that are read as well: where only other lexers read them, or what is beside words; to leave a
// lexer that reads them; and provisionally. Return the columns over which words end.
int32_t Determinizer::end_some(const Leaves& found, const Task& task, int32_t columns) {
  if (columns == ColumnSets::kEmpty || task.condition != kNone || task.outside != kNone) return ColumnSets::kEmpty;
  Vector<Ending> endings(budget_);
  for (const int32_t lexer : lexers_of(found.leaves)) {
    Ending one = ending(found.leaves, lexer, columns);
    if (!one.elements.empty()) endings.push_back(std::move(one));
  }
  int32_t done = end_together(found, endings, task, columns);
  for (const Ending& one : endings) {
    if (unbounded != Unbounded::kNothing) break;
    const Vector<Leaf> own = of_lexer(found.leaves, one.lexer);
    const int32_t provisional = end_provisionally(found.leaves, own, task, sets.both(columns, columns_of(own)));
    // These ends hold on a condition, and the others do not.
    if (sets.both(provisional, done) != ColumnSets::kEmpty) stop(Unbounded::kWords, task.elements, task.at);
    done = sets.either(done, provisional);
  }
  return done;
}

// Return how the words of a lexer may end over some columns.
Determinizer::Ending Determinizer::ending(std::span<const Leaf> leaves, int32_t lexer, int32_t columns) {
  const Vector<Leaf> own = of_lexer(leaves, lexer);
  Ending found{lexer, after_words_of_one(own), ColumnSets::kEmpty, ColumnSets::kEmpty};
  if (found.elements.empty()) return found;
  const int32_t read_on = columns_of(own);
  const Leaves after = leaves_of(found.elements);
  const int32_t follow = sets.either(first(after, kNone), columns_of(after.leaves));
  int32_t outside = first(after, lexer);
  for (const Leaf& leaf : after.leaves) {
    if (network.lexer(leaf.state) != lexer) outside = sets.either(outside, leaf.columns);
  }
  found.ends = sets.without(sets.both(columns, follow), read_on);
  found.exits = sets.both(sets.both(columns, outside), read_on);
  return found;
}

// End the words of some lexers over the columns that each of them allows, together; return these columns.
int32_t Determinizer::end_together(const Leaves& found, std::span<const Ending> endings, const Task& task,
                                   int32_t columns) {
  int32_t some = ColumnSets::kEmpty;
  for (const Ending& one : endings) some = sets.either(some, sets.either(one.ends, one.exits));
  int32_t left = sets.both(columns, some);
  const int32_t done = left;
  while (left != ColumnSets::kEmpty) {
    int32_t first_column = kNone;
    sets.visit(left, [&](int32_t column) { first_column = first_column == kNone ? column : first_column; });
    // The columns over which the same words end.
    int32_t over = left, outside = kNone;
    Elements elements(budget_);
    int32_t count = 0;
    for (const Ending& one : endings) {
      const int32_t column = sets.one(first_column);
      const bool ends = sets.both(one.ends, column) != ColumnSets::kEmpty;
      const bool exits = sets.both(one.exits, column) != ColumnSets::kEmpty;
      over = ends ? sets.both(over, one.ends) : sets.without(over, one.ends);
      over = exits ? sets.both(over, one.exits) : sets.without(over, one.exits);
      if (!ends && !exits) continue;
      if (exits) outside = one.lexer;
      elements.insert(elements.end(), one.elements.begin(), one.elements.end());
      ++count;
    }
    // To leave one lexer restricts what is read after the ends of all.
    if (outside != kNone && count > 1) return stop(Unbounded::kWords, task.elements, task.at), done;
    continue_both_ways(found.leaves, std::move(elements), task, over, kNone, outside);
    left = sets.without(left, over);
  }
  return done;
}

// End words over columns that words of their lexer read, where these begin other characters as well; return these
// columns.
int32_t Determinizer::end_provisionally(std::span<const Leaf> leaves, std::span<const Leaf> own, const Task& task,
                                        int32_t columns) {
  columns = sets.both(columns, provisional_.first_bytes());
  if (columns == ColumnSets::kEmpty || task.condition != kNone || task.outside != kNone) return ColumnSets::kEmpty;
  const Elements ended = after_words(own);
  if (ended.empty()) return ColumnSets::kEmpty;
  int32_t provisional = ColumnSets::kEmpty;
  for (const auto& [condition, over] : conditions_over(own, leaves_of(ended), columns)) {
    continue_both_ways(leaves, ended, task, over, condition, kNone);
    provisional = sets.either(provisional, over);
  }
  return provisional;
}

// Return the conditions on which the text can continue after words of one lexer within it, each with its columns.
Vector<Determinizer::OverColumns> Determinizer::conditions_over(std::span<const Leaf> own, const Leaves& after,
                                                                int32_t columns) {
  int32_t in_callers = ColumnSets::kEmpty;
  Vector<Leaf> inside(budget_);
  for (const Leaf& leaf : after.leaves) {
    if (network.lexer(leaf.state) == network.lexer(own[0].state)) inside.push_back(leaf);
  }
  for (int32_t rule : after.ends) in_callers = sets.either(in_callers, network.first_inside(rule));
  Vector<int32_t> both_read(budget_);
  sets.visit(sets.both(columns, sets.either(columns_of(inside), in_callers)),
             [&](int32_t column) { both_read.push_back(column); });
  Vector<OverColumns> found(budget_);
  for (int32_t column : both_read) {
    const int32_t condition = continued_by(own, column), one = sets.one(column);
    const bool by_callers = sets.both(in_callers, one) != ColumnSets::kEmpty;
    if (!reads_on(inside, column, condition) && !(by_callers && provisional_.any_reads(column, condition))) {
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

// Read on what leaves read, and after words, perhaps on a condition or outside of a lexer.
void Determinizer::continue_both_ways(std::span<const Leaf> leaves, Elements elements, const Task& task,
                                      int32_t columns, int32_t condition, int32_t outside) {
  // Side by side, what leaves read has been read on already.
  if (!options_.side_by_side) {
    for (const Leaf& leaf : leaves) {
      if (sets.both(leaf.columns, columns) == ColumnSets::kEmpty) continue;
      elements.push_back({leaf.pushed, provisional_.reader(leaf.state)});
    }
  }
  sort_unique(stacks, elements, budget_);
  push_set(task, columns, std::move(elements), true, condition, outside);
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
  tasks_.push_back({Task::Kind::kSet, state, Stacks::kEmpty, columns, kNone, kNone, kNone, true, 0, elements,
                    Vector<int32_t>(budget_)});
  return state;
}

}  // namespace automata
