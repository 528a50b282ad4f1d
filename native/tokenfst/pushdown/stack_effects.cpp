#include "tokenfst/pushdown/stack_effects.h"

#include <algorithm>

namespace tokenfst {

Vector<int32_t> FollowedTrees::plain_table(const ByteSteps& steps, Budget& budget) {
  Vector<int32_t> plain(static_cast<size_t>(steps.num_states) * steps.num_classes, kDead, budget);
  budget.spend(static_cast<int64_t>(plain.size()));
  for (int32_t state = 0; state < steps.num_states; ++state) {
    for (int32_t column = 0; column < steps.num_classes; ++column) {
      const int32_t begin = steps.offsets[steps.cell(state, column)], end = steps.offsets[steps.cell(state, column) + 1];
      if (begin == end) continue;
      const bool is_plain = end - begin == 1 && steps.pops[begin] == Sequences::kEmpty &&
                            steps.pushes[begin] == Sequences::kEmpty;
      plain[static_cast<size_t>(state) * steps.num_classes + column] = is_plain ? steps.target[begin] : kMixed;
    }
  }
  return plain;
}

FollowedTrees::FollowedTrees(const ByteSteps& steps, Budget& budget)
    : steps_(steps),
      budget_(budget),
      num_columns_(steps.num_columns()),
      plain_(plain_table(steps, budget)),
      characters_({plain_.data(), steps.num_states, steps.num_classes, steps.byte_class}, budget),
      pool_(steps.num_states, steps.num_symbols, budget),
      sequence_of_(budget),
      after_(num_columns_ + support::kNumPending, Vector<int32_t>(budget), budget),
      live_(0, support::words_for(num_columns_ + support::kNumPending), 0, budget),
      loops_(budget),
      planting_(budget),
      paths_(budget),
      parts_(budget),
      waiting_(budget),
      popped_(budget),
      pushed_(budget) {
  sequence_of_.push_back(Sequences::kEmpty);
  for (size_t sequence = 1; sequence < steps.parent.size(); ++sequence) {
    sequence_of_.push_back(pool_.sequences().extended(sequence_of_[steps.parent[sequence]], steps.symbol[sequence]));
  }
  budget.spend(8 * static_cast<int64_t>(steps.parent.size()));
  add_states();
}

void FollowedTrees::add_states() {
  Vector<uint32_t> live(live_.columns(), 0, budget_);
  for (int32_t state = 0; state < steps_.num_states; ++state) {
    std::ranges::fill(live, 0u);
    for (int32_t column = 0; column < num_columns_; ++column) {
      const size_t cell = steps_.cell(state, column);
      if (steps_.offsets[cell] < steps_.offsets[cell + 1]) support::set_bit(live, static_cast<uint32_t>(column));
    }
    for (int32_t pending = 0; pending < support::kNumPending; ++pending) {
      support::set_bit(live, static_cast<uint32_t>(num_columns_ + pending));
    }
    add_tree(characters_.loops(state), live);
    budget_.spend(num_columns_ + 256);
  }
}

void FollowedTrees::add_trees() {
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

void FollowedTrees::add_tree(const Loops& loops, std::span<const uint32_t> live) {
  const size_t tree = loops_.size();
  live_.add_row(0);
  std::ranges::copy(live, live_[tree].begin());
  for (size_t column = 0; column < after_.size(); ++column) {
    after_[column].push_back(support::has_bit(live, static_cast<uint32_t>(column)) ? kUnknown : kDead);
  }
  loops_.push_back(loops);
}

int32_t FollowedTrees::resolve(int32_t tree, int32_t column) {
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

int32_t FollowedTrees::followed(int32_t tree, int32_t column) {
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

void FollowedTrees::follow_leaf(const Part& leaf, int32_t column) {
  if (column < steps_.num_classes) {
    const int32_t plain = plain_[static_cast<size_t>(leaf.to) * steps_.num_classes + column];
    if (plain >= 0) {
      parts_.push_back(Part::leaf(leaf.pushed, plain));
      return;
    }
  }
  paths_.clear();
  const size_t cell = steps_.cell(leaf.to, column);
  for (int32_t step = steps_.offsets[cell]; step < steps_.offsets[cell + 1]; ++step) add_step(leaf, step);
  if (paths_.size()) planting_.plant(paths_, pool_, parts_);
}

void FollowedTrees::add_step(const Part& leaf, int32_t step) {
  popped_.clear();
  for (int32_t pops = steps_.pops[step]; pops != Sequences::kEmpty; pops = steps_.parent[pops]) {
    popped_.push_back(steps_.symbol[pops]);
  }
  std::ranges::reverse(popped_);
  budget_.spend(static_cast<int64_t>(popped_.size()) + 4);
  // What the leaf has pushed is popped first.
  const Sequences& sequences = pool_.sequences();
  size_t taken = 0;
  int32_t left = leaf.pushed;
  for (; taken < popped_.size() && left != Sequences::kEmpty; ++taken, left = sequences[left].before) {
    if (sequences[left].symbol != popped_[taken]) return;
  }
  pushed_.clear();
  const int32_t added = sequence_of_[steps_.pushes[step]];
  if (left == Sequences::kEmpty) {
    left = added;
  } else {
    for (int32_t pushes = added; pushes != Sequences::kEmpty; pushes = sequences[pushes].before) {
      pushed_.push_back(sequences[pushes].symbol);
    }
    for (; !pushed_.empty(); pushed_.pop_back()) left = pool_.sequences().extended(left, pushed_.back());
  }
  paths_.add(std::span(popped_).subspan(taken), Part::leaf(left, steps_.target[step]));
}

int32_t FollowedTrees::passed(int32_t tree, int32_t column) {
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
