// The layout of an automaton's block in the arena: the same numbers as in `decoding/arena/layout.py`, which describes
// each table, and which is used by the tensor operations that the steps are tested against.
#pragma once

#include <cstdint>

namespace decoding {

// Words of the head: where each table begins, counted from the block's first word, and then numbers.
enum class Table : int32_t {
  kClasses,
  kRowMask,
  kMasks,
  kRowForced,
  kRowComb,
  kComb,
  kOutcomes,
  kMoves,
  kRestOf,
  kPushes,
  kNodes,
  kWalk,
  kNodeRows,
  kCuts,
  kRest,
  kNext,
  kCost,
  kNodeRuns,
  kRuns,
  kRowWeights,
  kWeights,
};
enum class Number : int32_t {
  kNoOutcome = 21,
  kTimes,
  kNumClasses,
  kNumSymbols,
  kNumMoves,
  kNumRests,
  kGauge,
  kDepth,
  kFirst,
  kHasRuns,
  kHasWeights,
};
constexpr int32_t kNumFields = 32;

// The quantity that the intervals of nodes measure: nothing, the count, or how many symbols are free above the stack.
enum Gauge : int32_t { kNothing, kCount, kFree };

// Words in a chunk of a mask: 2,048 tokens.
constexpr int32_t kChunkWords = 64;
constexpr int32_t kChunkTokens = 32 * kChunkWords;
// The place of the empty chunk, after the head.
constexpr int32_t kEmptyChunk = kNumFields;
// Rows and nodes that every automaton has: where nothing is allowed, and after the end.
constexpr int32_t kDead = 0, kEnded = 1;
// Instead of the only token that a row allows: several are allowed, or none.
constexpr int32_t kSeveralAllowed = -1, kNothingAllowed = -2;
// More than any number of tokens; the sum of three still fits.
constexpr int32_t kFar = 1 << 29;

struct RowComb {
  int32_t base, first;  // where the comb of the row's family begins, in entries, and the family's first row
};
struct Entry {  // of a comb
  int32_t row, outcome;
  // Return whether a row has the entry: its family shares those of the rows before it.
  bool is_of(int64_t number, const RowComb& comb) const { return comb.first <= row && row <= number; }
};
struct Move {
  int32_t pops, pushed, push_at, target, keeps, adds;
};
struct Node {
  int32_t walk_at, rows_at, cuts_at, num_cuts;
};
struct NodeRuns {
  int32_t begin, size;
};
struct CountRun {
  int32_t begin, least;  // from which count on, and the fewest tokens from there
};
struct RowWeights {
  int32_t begin, size;
};
struct Weight {
  int32_t token, bits;  // the cost as the bits of a float
};
struct StackEntry {
  int32_t symbol, context, cost;  // the last two are of the stack up to here
};

}  // namespace decoding
