#include "automata/counted/counted_tables.h"

namespace automata {

CountedTables::Configuration CountedTables::step(Configuration configuration, uint8_t byte) const {
  for (const CountedArc& arc : arcs(configuration.state, byte_class[byte])) {
    if (arc.low <= configuration.value && configuration.value <= arc.high)
      return {arc.target, arc.after(configuration.value)};
  }
  return {kNone, 0};
}

bool CountedTables::accepts(std::span<const uint8_t> text) const {
  Configuration configuration{start, 0};
  for (uint8_t byte : text) {
    if (configuration.state == kNone) return false;
    configuration = step(configuration, byte);
  }
  return configuration.state != kNone && final_from[configuration.state] != kNone &&
         final_from[configuration.state] <= configuration.value;
}

}  // namespace automata
