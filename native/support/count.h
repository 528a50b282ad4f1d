// Converts counts of elements to the 32-bit numbers by which they are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace support {

// Throw length_error if there are more than 32 bits can number.
inline int32_t as_count(size_t size) {
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw std::length_error("there are more elements than 32 bits can number");
  }
  return static_cast<int32_t>(size);
}

}  // namespace support
