// Token classes: tokens with the same effect on an automaton are one letter to it.
//
//     class 0, kNever      tokens that no state allows
//     class 1, kEnd        the end of the sequence
//     class 2 ..           the effects that tokens have, numbered in order of appearance
//     run                  adjacent ranks that share a class
#pragma once

#include <cstdint>
#include <vector>

#include "support/budget.h"

namespace tokenfst {

using support::Budget;
using support::Vector;

constexpr int32_t kNever = 0, kEnd = 1, kFirstClass = 2;

struct ClassRun {
  int32_t end;     // one past the last rank
  int32_t number;  // the class
};

// The runs of a walk, which visits the ranks in order, and the classes of their effects.
class Classes {
 public:
  explicit Classes(Budget& budget) : runs_(budget), class_of_(budget), effect_of_(kFirstClass, 0, budget) {}

  // Give the class of an effect to the ranks from `first` up to `end`.
  void add(int32_t first, int32_t end, int32_t effect) {
    if (static_cast<size_t>(effect) >= class_of_.size()) class_of_.resize(2 * static_cast<size_t>(effect) + 64, kNever);
    int32_t& number = class_of_[effect];
    if (number == kNever) {
      effect_of_.push_back(effect);
      number = static_cast<int32_t>(effect_of_.size()) - 1;
    }
    add_run(first, end, number);
  }
  // Cover the ranks up to `num_ranks`.
  void finish(int32_t num_ranks) {
    if (last_end() < num_ranks) runs_.push_back({num_ranks, kNever});
  }

  int32_t size() const { return static_cast<int32_t>(effect_of_.size()); }
  // Return the effect of a class, which is at least kFirstClass.
  int32_t effect(int32_t number) const { return effect_of_[number]; }
  const Vector<ClassRun>& runs() const { return runs_; }

 private:
  int32_t last_end() const { return runs_.empty() ? 0 : runs_.back().end; }
  void add_run(int32_t first, int32_t end, int32_t number) {
    if (last_end() < first) runs_.push_back({first, kNever});
    if (!runs_.empty() && runs_.back().number == number) {
      runs_.back().end = end;
    } else {
      runs_.push_back({end, number});
    }
  }

  Vector<ClassRun> runs_;
  Vector<int32_t> class_of_;   // of each effect, kNever for those that no token has
  Vector<int32_t> effect_of_;  // of each class
};

// Return the records of all effects by class: `make(number, entry)` for each of `entries(effect)`.
template <class Entries, class Make>
auto records_by_class(const Classes& classes, Entries entries, Make make, Budget& budget) {
  using Record = decltype(make(0, *entries(0).begin()));
  size_t size = 0;
  for (int32_t number = kFirstClass; number < classes.size(); ++number) size += entries(classes.effect(number)).size();
  budget.charge(sizeof(Record) * size);
  std::vector<Record> found;
  found.reserve(size);
  for (int32_t number = kFirstClass; number < classes.size(); ++number) {
    for (const auto& entry : entries(classes.effect(number))) found.push_back(make(number, entry));
  }
  budget.spend(static_cast<int64_t>(size));
  return found;
}

}  // namespace tokenfst
