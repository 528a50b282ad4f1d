// RuleWriter: writes the arcs of the rule that reads an array or an object, as Python lists.
//
//     Marks         the expressions for what begins the container, stands between items or members, and ends them
//     ReadValue     how the value of an item or member is read: languages, and calls of rules. Values of different
//                   kinds may lead to different states; each of these is an outcome
//     RuleWriter    writes a rule; `add_moves` writes what may come next in one state
//
// Each state of the container becomes up to two states of the rule: one before the next item or member, and one after
// an item or member. Members whose values are read alike and lead to the same states share the state where their values
// begin.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "bindings/arrays.h"

namespace constraints {

namespace nb = nanobind;

// If `opened` is None, nothing is read before the first item or member.
struct Marks {
  nb::object opened, empty, comma, close;
};

struct ReadValue {
  struct Language {
    nb::object language;
    int32_t outcome;
  };
  // After the opening bracket a rule is called; `outcomes` gives the outcome of each of its exits.
  struct Called {
    nb::object opening, rule;
    std::vector<int32_t> outcomes;
  };

  int32_t number;
  std::vector<Language> languages;
  std::vector<Called> calls;
};

// `States` has `num_states()`, `exit(state)`, which is below 0 where there is no end, and `skips(state)`.
template <class States>
class RuleWriter {
 public:
  RuleWriter(const States& states, nb::handle call, Marks marks)
      : states_(states),
        call_(call),
        marks_(std::move(marks)) {
    before_.assign(states.num_states(), -1), after_ = before_;
  }
  virtual ~RuleWriter() = default;
  RuleWriter(const RuleWriter&) = delete;
  RuleWriter& operator=(const RuleWriter&) = delete;

  // Write the rule; return the number of its states, the arcs, the epsilon arcs, the calls and the ends.
  nb::tuple write() {
    const int32_t start = at(0, false);
    if (marks_.opened.is_none()) {
      epsilon_.append(nb::make_tuple(0, start));
    } else {
      arc(0, marks_.opened, start);
    }
    if (states_.exit(0) >= 0) arc(0, marks_.empty, ended(states_.exit(0)));
    while (!waiting_.empty()) {
      const auto [state, is_after] = waiting_.back();
      waiting_.pop_back();
      if (is_after) {
        add_after(state);
      } else {
        add_moves(state, before_[state]);
        for (int32_t skipped : states_.skips(state)) {
          epsilon_.append(nb::make_tuple(before_[state], at(skipped, false)));
        }
      }
    }
    return nb::make_tuple(num_states_, arcs_, epsilon_, calls_, ends_);
  }

  // Return the number of states of the rule that stand for a state of the container.
  int32_t num_used() const { return num_used_; }

 protected:
  // Add the items or members that may come next in a state of the container, from the state `source` of the rule.
  virtual void add_moves(int32_t state, int32_t source) = 0;

  // Add an item or member, whose value leads to `targets_` by its outcomes. `names` has the parts of a member's name.
  void add_member(int32_t source, const nb::tuple& names, const ReadValue& value) {
    if (names.size() == 0) {
      add_value(source, value);
    } else {
      add_name(source, names, before_value(value));
    }
  }

  // The state of the rule that each outcome of the next value leads to.
  std::vector<int32_t> targets_;

  int32_t after(int32_t state) { return at(state, true); }

  const States& states_;

 private:
  // Throw ValueError if the container has no such state.
  int32_t at(int32_t state, bool is_after) {
    bindings::require_within(state, 0, states_.num_states(), "state");
    int32_t& found = (is_after ? after_ : before_)[state];
    if (found < 0) {
      found = num_states_++;
      ++num_used_;
      waiting_.emplace_back(state, is_after);
    }
    return found;
  }

  void arc(int32_t source, nb::handle language, int32_t target) {
    arcs_.append(nb::make_tuple(source, language, target));
  }

  int32_t ended(int32_t exit) {
    const auto [found, is_new] = end_of_.try_emplace(exit, num_states_);
    if (is_new) {
      ++num_states_;
      ends_.append(nb::make_tuple(found->second, exit));
    }
    return found->second;
  }

  // Return the state where the value of a member begins, the same for all members whose values are read alike and lead
  // to the same states.
  int32_t before_value(const ReadValue& value) {
    const auto [found, is_new] = values_.try_emplace({value.number, targets_}, num_states_);
    if (is_new) {
      ++num_states_;
      add_value(found->second, value);
    }
    return found->second;
  }

  void add_value(int32_t source, const ReadValue& value) {
    for (const auto& [language, outcome] : value.languages) arc(source, language, targets_[outcome]);
    for (const auto& [opening, rule, outcomes] : value.calls) {
      arc(source, opening, num_states_);
      nb::list targets;
      for (int32_t outcome : outcomes) targets.append(targets_[outcome]);
      calls_.append(call_(num_states_++, rule, nb::tuple(targets)));
    }
  }

  // Add the name of a member, up to the state where its value begins.
  void add_name(int32_t source, const nb::tuple& names, int32_t target) {
    const size_t last = names.size() - 1;
    for (size_t at = 0; at < last; ++at) {
      arc(source, names[at], num_states_);
      source = num_states_++;
    }
    arc(source, names[last], target);
  }

  void add_after(int32_t state) {
    const int32_t source = after_[state];
    arc(source, marks_.comma, at(state, false));
    if (states_.exit(state) >= 0) arc(source, marks_.close, ended(states_.exit(state)));
  }

  const nb::handle call_;
  const Marks marks_;
  std::vector<int32_t> before_, after_;
  std::vector<std::pair<int32_t, bool>> waiting_;
  std::map<int32_t, int32_t> end_of_;
  std::map<std::pair<int32_t, std::vector<int32_t>>, int32_t> values_;
  int32_t num_states_ = 1, num_used_ = 0;
  nb::list arcs_, epsilon_, calls_, ends_;
};

}  // namespace constraints
