#include "decoding/memory.h"

#include <limits>
#include <string>

namespace decoding {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

Block Memory::block(int64_t slot) const {
  const bool is_slot = slot >= 0 && static_cast<size_t>(slot) < places.size();
  if (!is_slot || sizes[slot] <= 0) refuse("slot " + std::to_string(slot) + " is not in use");
  const int64_t place = places[slot], size = sizes[slot], all = static_cast<int64_t>(words.size());
  if (place < 0 || size > all || place > all - size) refuse("a block lies outside of the arena's memory");
  return Block(words.subspan(static_cast<size_t>(place), static_cast<size_t>(size)));
}

void check_rows(const Memory& memory, const SequenceBatch& at) {
  for (size_t sequence = 0; sequence < at.size; ++sequence) {
    const int64_t num_rows = memory.block(at.slots[sequence]).num_rows();
    for (int64_t row : at.rows(sequence)) {
      if (row >= 0 && row < num_rows) continue;
      refuse("row " + std::to_string(row) + " of sequence " + std::to_string(sequence) + " is none of the " +
             std::to_string(num_rows) + " of its automaton, slot " + std::to_string(at.slots[sequence]));
    }
  }
}

void check_counts(const SequenceBatch& at) {
  for (size_t sequence = 0; sequence < at.size; ++sequence) {
    for (size_t configuration = 0; configuration < at.configurations; ++configuration) {
      const int64_t height = at.height(sequence, configuration), count = at.count(sequence, configuration);
      if (height < 0 || static_cast<size_t>(height) > at.stack_size) {
        refuse("a stack of sequence " + std::to_string(sequence) + " holds " + std::to_string(height) +
               " symbols, and there is room for " + std::to_string(at.stack_size));
      }
      if (count < 0 || count > std::numeric_limits<int32_t>::max()) {
        refuse("sequence " + std::to_string(sequence) + " has counted to " + std::to_string(count));
      }
    }
  }
}

}  // namespace decoding
