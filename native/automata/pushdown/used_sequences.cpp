#include "automata/pushdown/used_sequences.h"

namespace automata {

UsedSequences::UsedSequences(const Stacks& stacks, Budget& budget)
    : parent(1, 0, budget),
      last(1, 0, budget),
      stacks_(stacks),
      number_of_(1, 0, budget),
      symbols_(budget),
      chain_(budget) {}

int32_t UsedSequences::of(int32_t cell) {
  if (static_cast<size_t>(cell) >= number_of_.size()) number_of_.resize(2 * static_cast<size_t>(cell), kNone);
  chain_.clear();
  for (; number_of_[cell] == kNone; cell = stacks_[cell].below) chain_.push_back(cell);
  int32_t number = number_of_[cell];
  for (; !chain_.empty(); chain_.pop_back()) {
    const int32_t symbol = stacks_[chain_.back()].symbol;
    parent.push_back(number);
    last.push_back(symbols_.intern(symbol).number);
    number = number_of_[chain_.back()] = static_cast<int32_t>(parent.size()) - 1;
  }
  return number;
}

}  // namespace automata
