#include "decoding/budgets.h"

#include <algorithm>

namespace decoding {

namespace {

// One configuration of a sequence.
struct ConstConfiguration {
  int64_t count, height;
  std::span<const StackEntry> stack;
};

// Return the tokens that the count adds: those of the node's last run that begins at or before the count.
int64_t of_count(const Block& block, int32_t node, int64_t count) {
  const auto own = block.record<NodeRuns>(Table::kNodeRuns, node);
  int64_t low = 0, high = own.size;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (block.record<CountRun>(Table::kRuns, own.begin + middle).begin <= count) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? block.record<CountRun>(Table::kRuns, own.begin + low - 1).least : 0;
}

// Return the fewest tokens after a move.
int64_t rest_after(const Block& block, int32_t number, const ConstConfiguration& place) {
  const auto move = block.record<Move>(Table::kMoves, number);
  const int64_t left = place.height - move.pops;
  if (left > static_cast<int64_t>(place.stack.size())) throw std::invalid_argument("a move pops what is not there");
  const StackEntry top = left > 0 ? place.stack[left - 1] : StackEntry{0, 0, 0};
  const int64_t column = block.word(Table::kRestOf, number);
  const int64_t rest = int64_t{top.cost} + block.word(Table::kRest, top.context * block[Number::kNumRests] + column);
  if (!block[Number::kHasRuns]) return rest;
  return rest + of_count(block, move.target, move.keeps * place.count + move.adds);
}

// Return the fewest tokens after an outcome, which is a single move if no outcome has several.
int64_t rest_after_any(const Block& block, int32_t outcome, const ConstConfiguration& place) {
  const int64_t times = block[Number::kTimes];
  if (times == 1) return rest_after(block, outcome, place);
  int64_t least = kFar;
  for (int64_t time = 0; time < times; ++time) {
    least = std::min(least, rest_after(block, block.word(Table::kOutcomes, outcome * times + time), place));
  }
  return least;
}

// Mark the classes of a row that fit; return whether all do.
bool note_fitting(const Block& block, int64_t row, const ConstConfiguration& place, int64_t limit,
                  std::vector<uint8_t>& fits) {
  const auto num_classes = static_cast<int64_t>(fits.size());
  const auto comb = block.record<RowComb>(Table::kRowComb, row);
  const auto entries = block.words(block[Table::kComb] + 2 * int64_t{comb.base}, 2 * num_classes);
  bool all_fit = true;
  for (int64_t number = 0; number < num_classes; ++number) {
    const Entry entry{entries[2 * number], entries[2 * number + 1]};
    if (!entry.is_of(row, comb)) continue;
    const bool does_fit = rest_after_any(block, entry.outcome, place) < limit;
    if (does_fit) fits[number] = true;
    all_fit &= does_fit;
  }
  return all_fit;
}

}  // namespace

Fitting fitting_classes(const Block& block, const SequenceBatch& at, size_t sequence, int64_t limit) {
  const int64_t num_classes = block[Number::kNumClasses];
  block.words(block[Table::kComb], 2 * num_classes);  // checks that the comb has that many
  Fitting found{true, std::vector<uint8_t>(static_cast<size_t>(num_classes), false)};
  for (size_t configuration = 0; configuration < at.configurations; ++configuration) {
    const ConstConfiguration place{at.count(sequence, configuration), at.height(sequence, configuration),
                                   at.stack(sequence, configuration)};
    for (int64_t row : at.rows(sequence, configuration))
      found.all &= note_fitting(block, row, place, limit, found.fits);
  }
  return found;
}

}  // namespace decoding
