// ContainerStates: the states of an array or object as it is read.
//
//     Outcome             the state that values of one kind lead to
//     ContainerStates     all states. For each: the moves by one more item or member, the other states whose moves may
//                         be made there as well (skips), and the exit in which the array or object may end
//
// Names and values are numbers, given by the maker of the states. In `PlainStates` every move has one outcome, and a
// name determines its value.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace constraints {

// In place of a name, for items; of a target, where there is none; and of an exit, where the container cannot end.
inline constexpr int32_t kNone = -1;

struct Outcome {
  int32_t value, target;
};

class ContainerStates {
 public:
  struct Move {
    int32_t name;
    std::span<const Outcome> outcomes;
  };

  int32_t num_states() const { return static_cast<int32_t>(exits_.size()); }
  int64_t num_outcomes() const { return static_cast<int64_t>(outcomes_.size()); }
  int32_t num_moves(int32_t state) const { return first_move_[state + 1] - first_move_[state]; }
  Move move(int32_t state, int32_t number) const {
    const int32_t at = first_move_[state] + number;
    return {names_[at], row(outcomes_, first_outcome_, at)};
  }
  std::span<const int32_t> skips(int32_t state) const { return row(skips_, first_skip_, state); }
  int32_t exit(int32_t state) const { return exits_[state]; }
  // Return, by state, whether an end can be reached from it if no text is a value in `empty` and every other value has
  // a text.
  std::vector<bool> lead_to_end(const std::set<int32_t>& empty) const;

  // Add to the state under construction: an outcome of the move that `finish_move` completes, or a state whose moves
  // may be made as well.
  void add_outcome(Outcome outcome) { outcomes_.push_back(outcome); }
  void add_skip(int32_t target) { skips_.push_back(target); }
  // Finish a move to the outcomes added. A move without outcomes is left out.
  void finish_move(int32_t name) {
    if (first_outcome_.back() == num_outcomes()) return;
    names_.push_back(name);
    first_outcome_.push_back(static_cast<int32_t>(outcomes_.size()));
  }
  void finish_state(int32_t exit) {
    first_move_.push_back(static_cast<int32_t>(names_.size()));
    first_skip_.push_back(static_cast<int32_t>(skips_.size()));
    exits_.push_back(exit);
  }

 private:
  template <class T>
  static std::span<const T> row(const std::vector<T>& values, const std::vector<int32_t>& first, int32_t at) {
    return std::span(values).subspan(first[at], first[at + 1] - first[at]);
  }

  std::vector<Outcome> outcomes_;
  std::vector<int32_t> names_, first_outcome_{0}, first_move_{0}, skips_, first_skip_{0}, exits_;
};

}  // namespace constraints
