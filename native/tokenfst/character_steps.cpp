#include "tokenfst/character_steps.h"

#include "support/bits.h"

namespace tokenfst {

using support::kAfterContinuation;
using support::kAfterLead;
using support::kWhole;

int32_t CharacterSteps::after(int32_t state, Pending pending) {
  int32_t& known = after_[state][pending];
  if (known != kUnknown) return known;
  int32_t found = kUnknown, seen = -1;
  for (int byte = support::kNextLow[pending]; byte <= support::kNextHigh[pending]; ++byte) {
    if (table_.byte_class[byte] == seen) continue;
    seen = table_.byte_class[byte];
    const int32_t middle = table_(state, seen);
    const Pending rest = kAfterContinuation[pending];
    const int32_t reached = middle < 0 || rest == kWhole ? middle : after(middle, rest);
    if (reached == kMixed || (found != kUnknown && found != reached)) {
      found = kMixed;
      break;
    }
    found = reached;
  }
  return known = found;
}

Loops CharacterSteps::loops(int32_t state) {
  Loops found{{}, loops_on_characters(state) ? ~0u : 0u};
  for (uint32_t byte = 0; byte < 128; ++byte) {
    if (table_(state, table_.byte_class[byte]) == state) support::set_bit(found.ascii, byte);
  }
  return found;
}

bool CharacterSteps::loops_on_characters(int32_t state) {
  int32_t seen = -1, seen_pending = -1;
  for (int lead = support::kFirstLead; lead < support::kLeadEnd; ++lead) {
    const int32_t column = table_.byte_class[lead], pending = kAfterLead[lead];
    if (column == seen && pending == seen_pending) continue;
    seen = column, seen_pending = pending;
    const int32_t middle = table_(state, column);
    if (middle < 0 || after(middle, kAfterLead[lead]) != state) return false;
  }
  return true;
}

}  // namespace tokenfst
