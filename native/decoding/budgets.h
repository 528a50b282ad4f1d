// Which classes leave so few tokens to be written that a text can still be completed (`decoding/arena/budgets.py`).
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/memory.h"

namespace decoding {

struct Fitting {
  bool all = true;            // whether all classes that are allowed fit
  std::vector<uint8_t> fits;  // by class; found only where they do not
};

// The classes after which a sequence needs less than `limit` tokens, the end token counted.
Fitting fitting_classes(const Block& block, const Sequences& at, size_t sequence, int64_t limit);

}  // namespace decoding
