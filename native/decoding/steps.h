// One step for sequences with one configuration each: a look-up in each row, the stack, the nodes, their rows.
//
// `decoding/arena/program.py` does the same for a batch with tensor operations, and defines the result.
#pragma once

#include <span>

#include "decoding/memory.h"

namespace decoding {

// Where sequences stand after the step, with the shapes of `SequenceBatch`; stacks already hold their previous
// contents.
struct After {
  int64_t* all_rows;
  int64_t* counts;
  int64_t* heights;
  StackEntry* all_stacks;
};

// Advance each sequence by one token, `[B]`. The batch has been checked, and its sequences have one
// configuration each. Throw invalid_argument for tokens that do not exist.
void advance(const Memory& memory, const SequenceBatch& at, std::span<const int64_t> tokens, const After& after);

}  // namespace decoding
