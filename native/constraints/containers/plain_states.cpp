#include "constraints/containers/plain_states.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>

namespace constraints {

namespace {

using Names = std::bitset<kMostRemembered>;

// Makes the states of names in any order, each when it is first reached.
class AnyOrder {
 public:
  AnyOrder(const ObjectMembers& members, const Orders& orders) : members_(members), ahead_(orders.ahead) {
    slot_.assign(members.num_listed, -1);
    int32_t num_slots = 0;
    for (int32_t name : orders.remembered) slot_[name] = num_slots++;
    for (const auto& order : orders.orders) {
      auto& slots = orders_.emplace_back();
      for (int32_t name : order) slots.push_back(slot_[name]);
    }
    for (int32_t slot = 0; slot < num_slots; ++slot) all_.set(slot);
    for (int32_t name = 0; name < members.num_listed; ++name) {
      if (members.required[name]) required_.set(slot_[name]);
    }
  }

  Counted run(int64_t most) {
    Counted found;
    number(all_);
    size_t at = 0;
    for (; at < waiting_.size() && found.states.num_moves() <= most; ++at) add(found.states, static_cast<int32_t>(at));
    found.num_moves = found.states.num_moves();
    found.is_all = at == waiting_.size() && found.num_moves <= most;
    return found;
  }

 private:
  // Return the state in which some names may still come.
  int32_t number(const Names& waiting) {
    const auto [known, is_new] = numbers_.try_emplace(waiting, static_cast<int32_t>(waiting_.size()));
    if (is_new) waiting_.push_back(waiting);
    return known->second;
  }

  void add(PlainStates& states, int32_t state) {
    const Names waiting = waiting_[state];
    for (int32_t name = 0; name < members_.num_listed; ++name) {
      if (!members_.possible[name]) continue;
      const int32_t slot = slot_[name];
      if (slot < 0) {
        states.move(name, state);
      } else if (waiting[slot]) {
        Names left = waiting;
        left.reset(slot);
        if (may_wait(left)) states.move(name, number(left));
      }
    }
    for (int32_t other = 0; other < members_.num_others(); ++other) states.move(members_.num_listed + other, state);
    states.finish((waiting & required_).none());
  }

  // Return whether few enough names have come ahead of others that still wait, in one of the orders.
  bool may_wait(const Names& waiting) const {
    return !ahead_ ||
           std::ranges::any_of(orders_, [&](const auto& order) { return num_ahead(waiting, order) <= *ahead_; });
  }

  static int32_t num_ahead(const Names& waiting, const std::vector<int32_t>& order) {
    const auto first = std::ranges::find_if(order, [&](int32_t slot) { return waiting[slot]; });
    return static_cast<int32_t>(std::count_if(first, order.end(), [&](int32_t slot) { return !waiting[slot]; }));
  }

  const ObjectMembers& members_;
  const std::optional<int32_t> ahead_;
  // By name: its place among those that are remembered.
  std::vector<int32_t> slot_;
  std::vector<std::vector<int32_t>> orders_;
  Names all_, required_;
  std::vector<Names> waiting_;
  std::unordered_map<Names, int32_t> numbers_;
};

// Add moves that lead back to the state being made: those of other names, and of some that are listed.
void add_rest(PlainStates& states, const ObjectMembers& members, int32_t state, const std::vector<bool>& listed) {
  for (int32_t name = 0; name < members.num_listed; ++name) {
    if (listed[name]) states.move(name, state);
  }
  for (int32_t other = members.num_listed; other < members.num_members; ++other) states.move(other, state);
}

}  // namespace

void PlainStates::finish(bool is_end) {
  first_move_.push_back(static_cast<int32_t>(moves_.size()));
  first_skip_.push_back(static_cast<int32_t>(skips_.size()));
  is_end_.push_back(is_end);
}

Counted in_any_order(const ObjectMembers& members, const Orders& orders, int64_t most) {
  return AnyOrder(members, orders).run(most);
}

PlainStates in_order(const ObjectMembers& members, const std::optional<std::vector<int32_t>>& second) {
  PlainStates states;
  const int32_t end = members.num_listed;
  // From the last required name on, nothing more is needed.
  int32_t needed = end;
  while (needed > 0 && !members.required[needed - 1]) --needed;
  for (int32_t name = 0; name < end; ++name) {
    if (members.possible[name]) states.move(name, name + 1);
    if (!members.required[name]) states.skip(name + 1);
    if (name == 0 && second) states.skip(end + 1);
    states.finish(name >= needed);
  }
  add_rest(states, members, end, std::vector<bool>(end, false));
  if (end == 0 && second) states.skip(1);
  states.finish(true);
  if (!second) return states;
  int32_t state = end + 1;
  std::vector<bool> rest = members.possible;
  for (int32_t name : *second) {
    if (members.possible[name]) states.move(name, state + 1);
    rest[name] = false;
    states.finish(false);
    ++state;
  }
  add_rest(states, members, state, rest);
  states.finish(true);
  return states;
}

PlainStates items_in_order(const std::vector<bool>& possible, int64_t low, std::optional<int64_t> high, int32_t last) {
  PlainStates states;
  const auto most = static_cast<int32_t>(possible.size()) - 1;
  for (int32_t state = 0; state <= last; ++state) {
    const int32_t place = std::min(state, most);
    const bool goes_on = high != state && possible[place];
    if (goes_on) states.move(place, std::min(state + 1, last));
    states.finish(state >= low);
    if (!goes_on) break;
  }
  return states;
}

}  // namespace constraints
