#include "automata/pushdown/sequences.h"

#include <stdexcept>

namespace automata {

Sequences sequences_of(std::span<const int32_t> parent, std::span<const int32_t> symbol, Budget& budget) {
  constexpr int64_t kMax = INT32_MAX;
  Vector<int32_t> length(parent.size(), 0, budget);
  int64_t total = 0;
  for (size_t sequence = 1; sequence < parent.size(); ++sequence) {
    length[sequence] = length[parent[sequence]] + 1;
    total += length[sequence];
    budget.spend(2);
  }
  if (total > kMax) throw std::length_error("sequences have more symbols than 32 bits can number");
  budget.charge(sizeof(int32_t) * (total + parent.size()));
  Sequences found;
  found.offsets.reserve(parent.size() + 1);
  found.symbols.resize(total);
  for (size_t sequence = 0; sequence < parent.size(); ++sequence) {
    const int32_t begin = found.offsets.back(), end = begin + length[sequence];
    for (int32_t at = static_cast<int32_t>(sequence), place = end; place-- > begin; at = parent[at]) {
      found.symbols[place] = symbol[at];
    }
    budget.spend(1 + end - begin);
    found.offsets.push_back(end);
  }
  return found;
}

}  // namespace automata
