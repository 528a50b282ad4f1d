#include "decoding/steps.h"

#include <algorithm>
#include <optional>
#include <string>

namespace decoding {

namespace {

// A configuration that a step changes. The caller may write to the arrays at any time, so the numbers that say where to
// read are copies: the height is within the stack.
struct Configuration {
  std::span<int64_t> rows;
  int64_t count;
  int64_t height;
  std::span<StackEntry> stack;
};

// Return the outcome of a class in the rows of a configuration.
std::optional<int32_t> outcome_of(const Block& block, std::span<const int64_t> rows, int32_t number) {
  for (int64_t row : rows) {
    if (row == kDead) break;
    const auto comb = block.record<RowComb>(Table::kRowComb, row);
    const auto entry = block.record<Entry>(Table::kComb, int64_t{comb.base} + number);
    if (entry.is_of(row, comb)) return entry.outcome;
  }
  return std::nullopt;
}

// Push symbols on a stack, with their contexts and costs for distances.
void push(const Block& block, const Move& move, Configuration& to) {
  StackEntry top = to.height > 0 ? to.stack[to.height - 1] : StackEntry{0, 0, 0};
  if (to.height + move.pushed > static_cast<int64_t>(to.stack.size())) {
    throw std::invalid_argument("a move pushes more than the stack has room for");
  }
  for (int32_t at = 0; at < move.pushed; ++at) {
    const int32_t symbol = block.word(Table::kPushes, int64_t{move.push_at} + at);
    const int64_t entry = int64_t{top.context} * block[Number::kNumSymbols] + symbol;
    const int64_t cost = int64_t{top.cost} + block.word(Table::kCost, entry);
    top = {symbol, block.word(Table::kNext, entry), static_cast<int32_t>(std::min<int64_t>(cost, kFar))};
    to.stack[to.height++] = top;
  }
}

// Return the row of a single node.
int32_t row_of(const Block& block, const Node& node, int64_t gauge) {
  const auto cuts = block.words(block[Table::kCuts] + node.cuts_at, node.num_cuts);
  return block.word(Table::kNodeRows, node.rows_at + (std::ranges::upper_bound(cuts, gauge) - cuts.begin()));
}

// Store the rows of a node and of the nodes that the stack leads to from it.
void settle(const Block& block, int32_t number, const Configuration& to) {
  const int64_t gauge = block[Number::kGauge] == kCount ? to.count : block[Number::kDepth] - to.height;
  int64_t below = to.height;
  for (size_t found = 0;;) {
    const auto node = block.record<Node>(Table::kNodes, number);
    const int32_t row = row_of(block, node, gauge);
    if (row != kDead) {
      if (found == to.rows.size()) throw std::invalid_argument("nodes have more rows than sequences carry");
      to.rows[found++] = row;
    }
    if (node.walk_at < 0) return;
    const int64_t symbol = --below >= 0 ? to.stack[below].symbol : block[Number::kNumSymbols];
    if (below < -1) throw std::invalid_argument("nodes read on below the stack");
    number = block.word(Table::kWalk, node.walk_at + symbol);
  }
}

// Make a move; the configuration holds its state before the move.
void make(const Block& block, int32_t number, Configuration& to) {
  const auto move = block.record<Move>(Table::kMoves, number);
  to.count = move.keeps * to.count + move.adds;
  to.height -= move.pops;
  if (move.pops < 0 || to.height < 0) throw std::invalid_argument("a move pops what is not there");
  push(block, move, to);
  settle(block, move.target, to);
}

}  // namespace

void advance(const Memory& memory, const SequenceBatch& at, std::span<const int64_t> tokens, const After& after) {
  std::fill_n(after.all_rows, at.size * at.parts, kDead);
  for (size_t i = 0; i < at.size; ++i) {
    const Block block = memory.block(at.slots[i]);
    if (tokens[i] < 0 || tokens[i] >= block.num_tokens()) {
      throw std::invalid_argument("token " + std::to_string(tokens[i]) + " of sequence " + std::to_string(i) +
                                  " is not one of the " + std::to_string(block.num_tokens()));
    }
    after.counts[i] = after.heights[i] = 0;
    if (at.rows(i)[0] == kEnded) {
      after.all_rows[i * at.parts] = kEnded;
      continue;
    }
    const auto outcome = outcome_of(block, at.rows(i), block.word(Table::kClasses, tokens[i]));
    if (!outcome) continue;
    Configuration to{{after.all_rows + i * at.parts, at.parts},
                     at.count(i, 0),
                     at.height(i, 0),
                     {after.all_stacks + i * at.stack_size, at.stack_size}};
    if (to.height < 0 || to.height > static_cast<int64_t>(at.stack_size)) {
      throw std::invalid_argument("a stack is higher than the stack has room for");
    }
    make(block, *outcome, to);
    after.counts[i] = to.count, after.heights[i] = to.height;
  }
}

}  // namespace decoding
