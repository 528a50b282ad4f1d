// PlainStates: the states of an array or object whose items or members are the same in all states.
//
//     Move                one more item or member, by its number, and the state after it
//     PlainStates         all states. For each: moves, the other states whose moves may be made there as well (skips),
//                         and whether the array or object may end
//     ObjectMembers       the members that an object may and must have
//     in_order            listed names in one order
//     items_in_order      an array's items
//
// `constraints.json_schema.containers.flagged` has the objects whose names come in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace constraints {

struct Move {
  int32_t member, target;
};

class PlainStates {
 public:
  int32_t num_states() const { return static_cast<int32_t>(is_end_.size()); }
  int64_t num_moves() const { return static_cast<int64_t>(moves_.size()); }
  std::span<const Move> moves(int32_t state) const { return row(moves_, first_move_, state); }
  std::span<const int32_t> skips(int32_t state) const { return row(skips_, first_skip_, state); }
  bool is_end(int32_t state) const { return is_end_[state]; }
  // Return the only exit, -1 where there is no end.
  int32_t exit(int32_t state) const { return is_end_[state] ? 0 : -1; }

  // Add to the state under construction, which `finish` completes.
  void move(int32_t member, int32_t target) { moves_.push_back({member, target}); }
  void skip(int32_t target) { skips_.push_back(target); }
  void finish(bool is_end);

 private:
  template <class T>
  static std::span<const T> row(const std::vector<T>& values, const std::vector<int32_t>& first, int32_t state) {
    return std::span(values).subspan(first[state], first[state + 1] - first[state]);
  }

  std::vector<Move> moves_;
  std::vector<int32_t> first_move_{0}, skips_, first_skip_{0};
  std::vector<bool> is_end_;
};

struct ObjectMembers {
  // Members with listed names come first, then those with other names.
  int32_t num_listed, num_members;
  // By listed name: whether its member can be there, and whether it must be.
  std::vector<bool> possible, required;

  int32_t num_others() const { return num_members - num_listed; }
};

// Return the states of an object whose names come in the order in which they are listed.
PlainStates in_order(const ObjectMembers& members);

// Return the states of an array. `possible`: by place, whether there can be an item; the last one is for all places
// from there on. `last` is the last state, which leads to itself if more items may follow. States after a place where
// there can be no item are never reached and not made.
PlainStates items_in_order(const std::vector<bool>& possible, int64_t low, std::optional<int64_t> high, int32_t last);

}  // namespace constraints
