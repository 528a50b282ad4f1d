#include "automata/counted/counted_tables.h"

namespace automata {

CountedTables::Place CountedTables::step(Place place, uint8_t byte) const {
  for (const GuardedArc& arc : arcs(place.state, byte_class[byte])) {
    if (arc.low <= place.value && place.value <= arc.high) return {arc.target, arc.after(place.value)};
  }
  return {kNone, 0};
}

bool CountedTables::accepts(std::span<const uint8_t> text) const {
  Place place{start, 0};
  for (uint8_t byte : text) {
    if (place.state == kNone) return false;
    place = step(place, byte);
  }
  return place.state != kNone && final_from[place.state] != kNone && final_from[place.state] <= place.value;
}

}  // namespace automata
