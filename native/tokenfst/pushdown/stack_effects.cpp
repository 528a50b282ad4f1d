#include "tokenfst/pushdown/stack_effects.h"

#include <algorithm>

namespace tokenfst {

Vector<int32_t> TreeTargets::plain_table(const automata::PushdownTables& automaton, Budget& budget) {
  Vector<int32_t> plain(budget);
  plain.reserve(static_cast<size_t>(automaton.num_states) * automaton.num_classes);
  for (int32_t state = 0; state < automaton.num_states; ++state) {
    for (int32_t column = 0; column < automaton.num_classes; ++column) {
      const auto steps = automaton.steps_of(state, column);
      const bool is_plain =
          steps.size() == 1 && steps[0].pops == SequenceTrie::kEmpty && steps[0].pushes == SequenceTrie::kEmpty;
      plain.push_back(is_plain ? steps[0].target : steps.empty() ? kDead : kMixed);
    }
    budget.spend(automaton.num_classes);
  }
  return plain;
}

TreeTargets::TreeTargets(const automata::PushdownTables& automaton, Budget& budget)
    : automaton_(automaton),
      budget_(budget),
      num_columns_(automaton.num_columns()),
      plain_(plain_table(automaton, budget)),
      characters_({plain_.data(), automaton.num_states, automaton.num_classes, automaton.byte_class}, budget),
      pool_(automaton.num_states, automaton.num_symbols, budget),
      sequence_of_(budget),
      after_(num_columns_ + support::kNumPending, Vector<int32_t>(budget), budget),
      live_(0, support::words_for(num_columns_ + support::kNumPending), 0, budget),
      loops_(budget),
      builder_(budget),
      paths_(budget),
      parts_(budget),
      waiting_(budget) {
  for (int32_t sequence = 0; sequence < automaton.sequences.size(); ++sequence) {
    sequence_of_.push_back(pool_.sequences().extended(SequenceTrie::kEmpty, automaton.sequences[sequence]));
    budget.spend(8 * static_cast<int64_t>(automaton.sequences[sequence].size()) + 1);
  }
  add_states();
}

void TreeTargets::add_states() {
  Vector<uint32_t> live(live_.columns(), 0, budget_);
  for (int32_t state = 0; state < automaton_.num_states; ++state) {
    std::ranges::fill(live, 0u);
    for (int32_t column = 0; column < num_columns_; ++column) {
      if (!automaton_.steps_of(state, column).empty()) support::set_bit(live, static_cast<uint32_t>(column));
    }
    for (int32_t pending = 0; pending < support::kNumPending; ++pending) {
      support::set_bit(live, static_cast<uint32_t>(num_columns_ + pending));
    }
    add_tree(characters_.loops(state), live);
    budget_.spend(num_columns_ + 256);
  }
}

void TreeTargets::add_trees() {
  Vector<uint32_t> live(live_.columns(), 0, budget_);
  for (auto tree = static_cast<int32_t>(loops_.size()); tree < pool_.size(); ++tree) {
    std::ranges::fill(live, 0u);
    Loops loops = Loops::all();
    for (const Part& part : pool_[tree]) {
      loops &= loops_[part.to];
      for (size_t word = 0; word < live.size(); ++word) live[word] |= live_[part.to][word];
    }
    add_tree(loops, live);
    budget_.spend(num_columns_ + 8 * static_cast<int64_t>(pool_[tree].size()));
  }
}

void TreeTargets::add_tree(const Loops& loops, std::span<const uint32_t> live) {
  const size_t tree = loops_.size();
  live_.add_row(0);
  std::ranges::copy(live, live_[tree].begin());
  for (size_t column = 0; column < after_.size(); ++column) {
    after_[column].push_back(support::has_bit(live, static_cast<uint32_t>(column)) ? kUnknown : kDead);
  }
  loops_.push_back(loops);
}

int32_t TreeTargets::resolve(int32_t tree, int32_t column) {
  const auto is_unknown = [&](int32_t number) { return after_[column][number] == kUnknown; };
  waiting_.assign(1, tree);
  while (!waiting_.empty()) {
    const int32_t last = waiting_.back();
    const size_t size = waiting_.size();
    if (is_unknown(last)) {
      for (const Part& part : pool_[last]) {
        if (!part.is_leaf() && is_unknown(part.to)) waiting_.push_back(part.to);
      }
      if (waiting_.size() > size) continue;
      const int32_t found = column < num_columns_ ? followed(last, column) : passed(last, column);
      add_trees();
      after_[column][last] = found;
      if (found == kDead) support::clear_bit(live_[last], static_cast<uint32_t>(column));
    }
    waiting_.pop_back();
  }
  return after_[column][tree];
}

int32_t TreeTargets::followed(int32_t tree, int32_t column) {
  parts_.clear();
  const size_t size = pool_[tree].size();
  for (size_t at = 0; at < size; ++at) {
    const Part part = pool_[tree][at];
    if (part.is_leaf()) {
      follow_leaf(part, column);
    } else if (const int32_t after = after_[column][part.to]; after >= 0) {
      parts_.push_back(Part::child(part.popped, after));
    }
  }
  budget_.spend(8 * static_cast<int64_t>(size + parts_.size()) + 16);
  return parts_.empty() ? kDead : pool_.tree(parts_);
}

void TreeTargets::follow_leaf(const Part& leaf, int32_t column) {
  if (column < automaton_.num_classes) {
    const int32_t plain = plain_[static_cast<size_t>(leaf.to) * automaton_.num_classes + column];
    if (plain >= 0) {
      parts_.push_back(Part::leaf(leaf.pushed, plain));
      return;
    }
  }
  paths_.clear();
  for (const automata::PushdownStep& step : automaton_.steps_of(leaf.to, column)) add_step(leaf, step);
  if (paths_.size()) builder_.build(paths_, pool_, parts_);
}

void TreeTargets::add_step(const Part& leaf, const automata::PushdownStep& step) {
  const auto popped = automaton_.sequences[step.pops], pushed = automaton_.sequences[step.pushes];
  budget_.spend(static_cast<int64_t>(popped.size() + pushed.size()) + 4);
  // The symbols that the leaf has pushed are popped first.
  SequenceTrie& sequences = pool_.sequences();
  size_t taken = 0;
  int32_t left = leaf.pushed;
  for (; taken < popped.size() && left != SequenceTrie::kEmpty; ++taken, left = sequences[left].before) {
    if (sequences[left].symbol != popped[taken]) return;
  }
  left = left == SequenceTrie::kEmpty ? sequence_of_[step.pushes] : sequences.extended(left, pushed);
  paths_.add(popped.subspan(taken), Part::leaf(left, step.target));
}

int32_t TreeTargets::passed(int32_t tree, int32_t column) {
  parts_.clear();
  const auto pending = static_cast<Pending>(column - num_columns_);
  budget_.spend(8 * static_cast<int64_t>(pool_[tree].size()) + 16);
  for (const Part& part : pool_[tree]) {
    const int32_t after = part.is_leaf() ? characters_.after(part.to, pending) : after_[column][part.to];
    if (after == kMixed) return kMixed;
    if (after < 0) continue;
    parts_.push_back(part.is_leaf() ? Part::leaf(part.pushed, after) : Part::child(part.popped, after));
  }
  return parts_.empty() ? kDead : pool_.tree(parts_);
}

}  // namespace tokenfst
