#include "automata/pushdown/determinizer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace automata {

namespace {

// A grammar that exceeds these bounds is not deterministic.
constexpr int32_t kMaxLocalStack = 64, kMaxElements = 256, kMaxSets = 40'000;
// Up to this many leaves are searched linearly for an equal one before they are hashed.
constexpr size_t kFewLeaves = 16;

struct LeafKey {
  int32_t pushed, state;
  bool operator==(const LeafKey&) const = default;
};

// Leaves without duplicates.
class LeafSet {
 public:
  explicit LeafSet(Vector<Leaf>& leaves, Budget& budget) : leaves_(leaves), budget_(budget) {}

  void add(const Leaf& leaf) {
    const LeafKey key{leaf.pushed, leaf.state};
    if (leaves_.size() <= kFewLeaves) {
      const auto same = [&](const Leaf& other) { return LeafKey{other.pushed, other.state} == key; };
      if (std::ranges::none_of(leaves_, same)) leaves_.push_back(leaf);
      return;
    }
    if (!known_) {
      known_.emplace(budget_);
      for (const Leaf& other : leaves_) {
        const LeafKey other_key{other.pushed, other.state};
        known_->intern({&other_key, 1});
      }
    }
    if (known_->intern({&key, 1}).is_new) leaves_.push_back(leaf);
  }

 private:
  Vector<Leaf>& leaves_;
  Budget& budget_;
  std::optional<support::Interner<LeafKey>> known_;
};

}  // namespace

Determinizer::Determinizer(const RuleNetwork& rules, const ConstructionOptions& options, Budget& budget)
    : stacks(budget),
      sets(rules.num_classes + 1 + rules.num_labels, budget),
      network(rules, stacks, sets, budget),
      sequences(stacks, budget),
      unbounded_elements(budget),
      came_from(budget),
      too_many(budget),
      state_of_single(network.num_states(), kNone, budget),
      groups(budget),
      shared(budget),
      provisional_(rules, network, sets, budget),
      options_(options),
      budget_(budget),
      element_offsets_(1, 0, budget),
      elements_(budget),
      waiting_(budget),
      tasks_(budget),
      known_sets_(budget),
      state_of_set_(budget),
      known_boundaries_(budget),
      state_of_boundary_(budget),
      is_boundary_(budget),
      choices_(budget),
      choices_under_(network.num_rules(), Vector<int32_t>(budget), budget),
      looks_of_(network.num_rules(), Vector<int32_t>(budget), budget),
      looks_(budget),
      look_again_(budget) {}

// States.

int32_t Determinizer::place(int32_t state, int32_t from) {
  if (state >= static_cast<int32_t>(state_of_single.size())) state_of_single.resize(network.num_states(), kNone);
  int32_t& found = state_of_single[state];
  if (found == kNone) {
    const Element alone{Stacks::kEmpty, state};
    found = new_state({&alone, 1}, from);
    waiting_.push_back(found);
  }
  return found;
}

int32_t Determinizer::new_state(std::span<const Element> elements, int32_t from) {
  support::require_at_most(int64_t{num_states()} + 1, options_.max_states);
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  element_offsets_.push_back(static_cast<int64_t>(elements_.size()));
  is_boundary_.push_back(false);
  came_from.push_back(from);
  budget_.spend(32);
  return num_states() - 1;
}

// Return the state for an ordered set of elements, without the common part of their stacks; kNone if a bound is
// exceeded.
int32_t Determinizer::set_of(const Elements& elements, int32_t from) {
  if (elements.size() == 1) return place(elements[0].state, from);
  known_sets_.discard();
  for (const Element& element : elements) known_sets_.push(element);
  const auto [number, is_new] = known_sets_.close();
  if (!is_new) return state_of_set_[number];
  if (elements.size() > kMaxElements) return stop(Unbounded::kDerivations, elements, from), kNone;
  int32_t height = 0;
  for (const Element& element : elements) height = std::max(height, stacks[element.stack].height);
  if (number >= kMaxSets || height > kMaxLocalStack) return stop(Unbounded::kStack, elements, from), kNone;
  state_of_set_.push_back(new_state(elements, from));
  waiting_.push_back(state_of_set_.back());
  return state_of_set_.back();
}

// Return whether some stacks are too many, or too high, for one symbol; note which bound was exceeded.
bool Determinizer::passes_bound(std::span<const int32_t> some, const Elements& elements, int32_t from) {
  if (some.size() > kMaxElements) return stop(Unbounded::kDerivations, elements, from), true;
  const bool high = std::ranges::any_of(some, [&](int32_t stack) { return stacks[stack].height > kMaxLocalStack; });
  if (high || choices_.size() > kMaxSets) return stop(Unbounded::kStack, elements, from), true;
  return false;
}

void Determinizer::stop(Unbounded reason, std::span<const Element> elements, int32_t state) {
  unbounded = reason, unbounded_state = state;
  unbounded_elements.assign(elements.begin(), elements.end());
}

// Contents of stacks.

Vector<int32_t> Determinizer::stacks_of(int32_t symbol) {
  const int32_t choice = symbol - network.end_state() - 1;
  if (choice < 0) return Vector<int32_t>(1, stacks.push(symbol, Stacks::kEmpty), budget_);
  return Vector<int32_t>(choices_[choice].begin(), choices_[choice].end(), budget_);
}

Vector<int32_t> Determinizer::lowest_rules(std::span<const Element> elements) const {
  Vector<int32_t> rules(budget_);
  for (const auto& [stack, state] : elements) {
    include(rules, network.rule_of(stack == Stacks::kEmpty ? state : bottom_of(stacks, stack)));
    budget_.spend(4 + stacks[stack].height);
  }
  return rules;
}

Elements Determinizer::elements_of(int32_t symbol) {
  Elements elements(budget_);
  for (int32_t stack : stacks_of(symbol)) elements.push_back({stacks[stack].below, stacks[stack].symbol});
  return elements;
}

Vector<int32_t> Determinizer::rules_below(int32_t symbol) { return lowest_rules(elements_of(symbol)); }

Vector<int32_t> Determinizer::under_all(std::span<const int32_t> rules) const {
  Vector<int32_t> found(budget_), next(budget_);
  for (int32_t rule : rules) {
    Vector<int32_t> under(budget_);
    std::ranges::set_union(network.under(rule), choices_under_[rule], std::back_inserter(under));
    budget_.spend(4 + static_cast<int64_t>(under.size()));
    if (rule == rules.front()) {
      found = std::move(under);
      continue;
    }
    next.clear();
    std::ranges::set_intersection(found, under, std::back_inserter(next));
    std::swap(found, next);
  }
  return found;
}

// Exploration.

void Determinizer::run() {
  place(network.start(), kNone);
  while (unbounded == Unbounded::kNothing) {
    budget_.spend(8);
    if (!tasks_.empty()) {
      Task task = std::move(tasks_.back());
      tasks_.pop_back();
      do_task(std::move(task));
    } else if (!waiting_.empty()) {
      const int32_t at = waiting_.back();
      waiting_.pop_back();
      read_on(at);
    } else if (!look_again_.empty()) {
      const int32_t look = look_again_.back();
      look_again_.pop_back();
      branch(look);
    } else {
      break;
    }
  }
}

// Explore a set at the state and below the popped symbols of another task.
void Determinizer::push_set(const Task& from, int32_t columns, Elements elements, bool words_ended, int32_t condition,
                            int32_t outside) {
  tasks_.push_back({Task::Kind::kSet, from.at, from.popped, columns, condition, kNone, outside, words_ended, 0,
                    std::move(elements), Vector<int32_t>(budget_)});
}

// Find the steps of a state.
void Determinizer::read_on(int32_t at) {
  const auto own = elements(at);
  tasks_.push_back({Task::Kind::kSet, at, Stacks::kEmpty, sets.all(), kNone, kNone, kNone, false, 0,
                    Elements(own.begin(), own.end(), budget_), Vector<int32_t>(budget_)});
}

void Determinizer::do_task(Task task) {
  if (task.kind == Task::Kind::kLook) return next_branch(std::move(task));
  if (task.kind == Task::Kind::kReturns) return next_return(std::move(task));
  if (task.elements.size() == 1 && network.is_plain(task.elements[0].state)) {
    const auto [stack, state] = task.elements[0];
    if (task.outside == network.lexer(state) && !provisional_.is_reader(state)) return;
    const Leaf leaf{stack, state, network.columns(state)};
    return emit({&leaf, 1}, task, task.columns);
  }
  if (!options_.side_by_side) return explore(task);
  if (task.elements.size() == 1) return explore_alone(task);
  for (size_t place = task.elements.size(); place-- > 0;) {
    push_set(task, task.columns, Elements(1, task.elements[place], budget_), task.words_ended, task.condition,
             task.outside);
  }
}

// Find the steps over some columns after some symbols have been popped.
void Determinizer::explore(const Task& task) {
  if (begins_beside_word(task)) return stop(Unbounded::kWords, task.elements, task.at);
  const Leaves found = leaves_of(task.elements, task.outside);
  if (ends_lazily(found.leaves)) return end_at_once(found, task);
  int32_t once = ColumnSets::kEmpty, twice = ColumnSets::kEmpty;
  for (const Leaf& leaf : found.leaves) {
    const int32_t reads = sets.both(leaf.columns, task.columns);
    twice = sets.either(twice, sets.both(once, reads));
    once = sets.either(once, reads);
  }
  const int32_t known = sets.without(once, first(found, task.outside));
  const int32_t certain = sets.without(known, end_some(found, task, known));
  if (unbounded != Unbounded::kNothing) return;
  emit(found.leaves, task, sets.without(certain, twice));
  collide(found.leaves, task, sets.both(certain, twice));
  if (unbounded != Unbounded::kNothing) return;
  const int32_t left = sets.without(task.columns, known);
  if (!found.ends.empty()) {
    look_below(task, left);
  } else if (left != ColumnSets::kEmpty) {
    end_words(found.leaves, task, left);
  }
}

// The same for one element, if configurations advance side by side.
void Determinizer::explore_alone(const Task& task) {
  const Leaves found = leaves_of(task.elements, task.outside);
  if (ends_lazily(found.leaves)) return end_at_once(found, task);
  emit(found.leaves, task, task.columns);
  int32_t in_words = ColumnSets::kEmpty;
  for (const Leaf& leaf : found.leaves) {
    if (network.is_in_words(leaf.state)) in_words = sets.either(in_words, leaf.columns);
  }
  const int32_t read_on = sets.both(task.columns, in_words);
  end_provisionally(found.leaves, found.leaves, task, read_on);
  if (task.condition == kNone && task.outside == kNone) {
    for (int32_t lexer : lexers_of(found.leaves)) {
      Ending leaving = ending(found.leaves, lexer, read_on);
      if (leaving.exits != ColumnSets::kEmpty) {
        push_set(task, leaving.exits, std::move(leaving.elements), true, kNone, lexer);
      }
    }
  }
  // Tasks pushed last are done first: the ends of words, and then the rules.
  for (size_t at = found.ends.size(); at-- > 0;) {
    const int32_t rule = found.ends[at], columns = sets.both(task.columns, network.first(rule));
    if (columns == ColumnSets::kEmpty) continue;
    tasks_.push_back({Task::Kind::kReturns, task.at, task.popped, columns, task.condition, rule, task.outside,
                      task.words_ended, 0, Elements(budget_), Vector<int32_t>(budget_)});
  }
  const int32_t left = sets.without(task.columns, in_words);
  if (left != ColumnSets::kEmpty) end_words(found.leaves, task, left);
}

// Return the places that some elements reach without reading, and the rules that can end with an empty local stack. The
// lexer `outside` reads nothing, except in readers.
Determinizer::Leaves Determinizer::leaves_of(std::span<const Element> elements, int32_t outside) {
  Leaves found{Vector<Leaf>(budget_), Vector<int32_t>(budget_)};
  LeafSet leaves(found.leaves, budget_);
  for (auto [stack, state] : elements) {
    while (true) {
      const auto closure = network.closure(state);
      for (const Leaf& leaf : closure.leaves) {
        if (network.lexer(leaf.state) == outside && !provisional_.is_reader(leaf.state)) continue;
        leaves.add({stack_on(stacks, stack, leaf.pushed, budget_), leaf.state, leaf.columns});
      }
      budget_.spend(4 + 4 * static_cast<int64_t>(closure.leaves.size()));
      if (!closure.ends) break;
      if (stack == Stacks::kEmpty) {
        include(found.ends, network.rule_of(state));
        break;
      }
      state = stacks[stack].symbol, stack = stacks[stack].below;
    }
  }
  return found;
}

bool Determinizer::ends_lazily(std::span<const Leaf> leaves) const {
  return std::ranges::any_of(leaves, [&](const Leaf& leaf) { return network.ends_lazily(leaf.state); });
}

// Return the columns with which the text may continue in callers, or a superset of them.
int32_t Determinizer::first(const Leaves& leaves, int32_t outside) {
  int32_t found = ColumnSets::kEmpty;
  for (const int32_t rule : leaves.ends) {
    found = sets.either(found, outside == kNone ? network.first(rule) : network.first_outside(rule));
  }
  return found;
}

// Add the steps over the columns that only one leaf reads.
void Determinizer::emit(std::span<const Leaf> leaves, const Task& task, int32_t columns) {
  if (columns == ColumnSets::kEmpty) return;
  for (const Leaf& leaf : leaves) {
    const int32_t reads = sets.both(leaf.columns, columns);
    if (reads == ColumnSets::kEmpty) continue;
    if (task.condition != kNone && !provisional_.is_reader(leaf.state)) {
      collide({&leaf, 1}, task, reads);
      continue;
    }
    const int32_t pops = sequences.of(task.popped), pushes = sequences.of(leaf.pushed);
    groups.push_back({task.at, pops, pushes, leaf.state, reads, true});
    const auto row = network.row(leaf.state);
    int32_t before = kNone;
    sets.visit(reads, [&](int32_t column) {
      if (row[column] != before) place(row[column], task.at);
      before = row[column];
    });
    budget_.spend(sets.num_columns() / 4);
  }
}

// Add the steps over the columns that several leaves read.
void Determinizer::collide(std::span<const Leaf> all_leaves, const Task& task, int32_t columns) {
  if (columns == ColumnSets::kEmpty) return;
  Vector<Leaf> leaves(budget_);
  for (const Leaf& leaf : all_leaves) {
    if (sets.both(leaf.columns, columns) != ColumnSets::kEmpty) leaves.push_back(leaf);
  }
  support::Interner<int32_t> targets(budget_);
  Vector<int32_t> numbers(budget_), columns_of(budget_);
  sets.visit(columns, [&](int32_t column) { columns_of.push_back(column); });
  for (int32_t column : columns_of) {
    for (const Leaf& leaf : leaves) targets.push(target(leaf.state, column, task.condition));
    numbers.push_back(targets.close().number);
    budget_.spend(4 * static_cast<int64_t>(leaves.size()));
  }
  Vector<int32_t> reading(targets.size(), ColumnSets::kEmpty, budget_);
  for (size_t at = 0; at < numbers.size(); ++at) {
    reading[numbers[at]] = sets.either(reading[numbers[at]], sets.one(columns_of[at]));
  }
  for (int32_t number = 0; number < targets.size() && unbounded == Unbounded::kNothing; ++number) {
    add_collision(leaves, targets[number], task, reading[number]);
  }
}

void Determinizer::add_collision(std::span<const Leaf> leaves, std::span<const int32_t> targets, const Task& task,
                                 int32_t columns) {
  Elements reached(budget_);
  for (size_t at = 0; at < leaves.size(); ++at) {
    if (targets[at] != kNone) reached.push_back({leaves[at].pushed, targets[at]});
  }
  if (reached.empty()) return;
  auto [pushes, elements] = without_common(stacks, std::move(reached), budget_);
  if (elements.size() > 1) {
    if (auto product = factored(stacks, elements, budget_)) {
      if (passes_bound(product->stacks, elements, task.at)) return;
      pushes = stack_on(stacks, stacks.push(choice(*product), pushes), product->above.common, budget_);
      elements = std::move(product->above.elements);
    }
  }
  const int32_t target = set_of(elements, task.at);
  if (target == kNone) return;
  const int32_t popped = sequences.of(task.popped);
  groups.push_back({task.at, popped, sequences.of(pushes), target, columns, false});
}

}  // namespace automata
