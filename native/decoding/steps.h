// One step of sequences with one configuration each: a look-up in each row, the stack, the nodes, their rows.
//
// This is what `decoding/arena/program.py` does for a batch by tensor operations, which is also its definition.
#pragma once

#include <span>

#include "decoding/memory.h"

namespace decoding {

// Where sequences stand afterwards, with the shapes of `Sequences`; stacks hold what they held before.
struct After {
  int64_t* all_rows;
  int64_t* counts;
  int64_t* heights;
  StackEntry* all_stacks;
};

// Goes on by a token for each sequence, `[B]`. Sequences have been checked, and have one configuration. Throws
// invalid_argument for tokens that there are not.
void advance(const Memory& memory, const Sequences& at, std::span<const int64_t> tokens, const After& after);

}  // namespace decoding
