#include "tokenfst/pushdown/trees.h"

#include <algorithm>
#include <array>

namespace tokenfst {

std::vector<int32_t> Trees::symbols(int32_t sequence) const {
  std::vector<int32_t> found;
  for (; sequence != SequenceTrie::kEmpty; sequence = sequences[sequence].before) {
    found.push_back(sequences[sequence].symbol);
  }
  std::ranges::reverse(found);
  return found;
}

TreePool::TreePool(int32_t num_states, int32_t num_symbols, Budget& budget)
    : num_states_(num_states),
      num_symbols_(num_symbols),
      budget_(budget),
      trees_(budget),
      sequences_(budget) {
  for (int32_t state = 0; state < num_states; ++state) {
    trees_.intern(std::array{Part::leaf(SequenceTrie::kEmpty, state)});
  }
  budget.spend(8 * int64_t{num_states});
}

TreePool::TreePool(const Trees& trees, Budget& budget)
    : num_states_(trees.num_states),
      num_symbols_(trees.num_symbols),
      budget_(budget),
      trees_(budget),
      sequences_(budget) {
  for (int32_t tree = 0; tree < trees.size(); ++tree) {
    trees_.intern(trees[tree]);
    budget.spend(8 + static_cast<int64_t>(trees[tree].size()));
  }
  for (const LongerSequence& sequence : std::span(trees.sequences).subspan(1)) {
    sequences_.extended(sequence.before, sequence.symbol);
    budget.spend(8);
  }
}

int32_t TreePool::tree(std::span<Part> parts) {
  std::ranges::sort(parts);
  const auto repeated = std::ranges::unique(parts);
  return trees_.intern(parts.first(parts.size() - repeated.size())).number;
}

Trees TreePool::finish() const {
  const auto num_parts = static_cast<size_t>(trees_.num_values());
  budget_.charge(8 * static_cast<size_t>(trees_.size() + sequences_.size() + 1) + sizeof(Part) * num_parts);
  Trees found{num_states_, num_symbols_, {}, {}, {}};
  found.begins.reserve(trees_.size() + 1);
  found.begins.push_back(0);
  found.parts.reserve(num_parts);
  for (int32_t tree = 0; tree < trees_.size(); ++tree) {
    found.parts.insert(found.parts.end(), trees_[tree].begin(), trees_[tree].end());
    found.begins.push_back(static_cast<int64_t>(found.parts.size()));
  }
  found.sequences.reserve(sequences_.size());
  for (int32_t sequence = 0; sequence < sequences_.size(); ++sequence) found.sequences.push_back(sequences_[sequence]);
  budget_.spend(static_cast<int64_t>(num_parts) + trees_.size() + sequences_.size());
  return found;
}

}  // namespace tokenfst
