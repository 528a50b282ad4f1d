#include "constraints/containers/plain_states.h"

#include <algorithm>

namespace constraints {

void PlainStates::finish(bool is_end) {
  first_move_.push_back(static_cast<int32_t>(moves_.size()));
  first_skip_.push_back(static_cast<int32_t>(skips_.size()));
  is_end_.push_back(is_end);
}

PlainStates in_order(const ObjectMembers& members) {
  PlainStates states;
  const int32_t end = members.num_listed;
  // From the last required name on, nothing more is needed.
  int32_t needed = end;
  while (needed > 0 && !members.required[needed - 1]) --needed;
  for (int32_t name = 0; name < end; ++name) {
    if (members.possible[name]) states.move(name, name + 1);
    if (!members.required[name]) states.skip(name + 1);
    states.finish(name >= needed);
  }
  for (int32_t other = end; other < members.num_members; ++other) states.move(other, end);
  states.finish(true);
  return states;
}

PlainStates items_in_order(const std::vector<bool>& possible, int64_t low, std::optional<int64_t> high, int32_t last) {
  PlainStates states;
  const auto most = static_cast<int32_t>(possible.size()) - 1;
  for (int32_t state = 0; state <= last; ++state) {
    const int32_t place = std::min(state, most);
    const bool can_continue = high != state && possible[place];
    if (can_continue) states.move(place, std::min(state + 1, last));
    states.finish(state >= low);
    if (!can_continue) break;
  }
  return states;
}

}  // namespace constraints
