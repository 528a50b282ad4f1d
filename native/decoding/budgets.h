// Finds the classes that leave few enough tokens for a text to be completed (`decoding/arena/budgets.py`).
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/memory.h"

namespace decoding {

struct Fitting {
  bool all = true;            // whether all allowed classes fit
  std::vector<uint8_t> fits;  // by class; meaningful only if not all fit
};

// Return the classes after which a sequence needs fewer than `limit` tokens, counting the end token.
Fitting fitting_classes(const Block& block, const SequenceBatch& at, size_t sequence, int64_t limit);

}  // namespace decoding
