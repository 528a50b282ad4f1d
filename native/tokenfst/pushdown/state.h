// PushdownState: a position of a text in an automaton with a stack: one configuration if the automaton is
// deterministic, otherwise several.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tokenfst/automaton.h"
#include "tokenfst/pushdown/stack.h"

namespace tokenfst {

struct Configuration {
  int32_t state;
  Stack stack;

  uint64_t hash() const { return support::mixed(stack.hash(), static_cast<uint64_t>(state)); }
  friend bool operator==(const Configuration& left, const Configuration& right) {
    return left.state == right.state && left.stack == right.stack;
  }
  friend bool operator<(const Configuration& left, const Configuration& right) {
    return left.state != right.state ? left.state < right.state : left.stack < right.stack;
  }
};

class PushdownState : public StateObject {
 public:
  explicit PushdownState(Configuration configuration) : first_(std::move(configuration)) {}
  // There must be at least one configuration, in any order; duplicates are removed.
  explicit PushdownState(std::vector<Configuration> configurations);
  PushdownState(PushdownState&&) = default;

  size_t size() const { return several_ ? several_->size() : 1; }
  const Configuration& operator[](size_t number) const { return several_ ? (*several_)[number] : first_; }
  std::span<const Configuration> configurations() const {
    return several_ ? std::span<const Configuration>(*several_) : std::span(&first_, 1);
  }
  uint64_t hash() const;
  friend bool operator==(const PushdownState& left, const PushdownState& right);

 private:
  Configuration first_{};
  std::unique_ptr<std::vector<Configuration>> several_;  // in a fixed order, so that equal states compare equal
};

}  // namespace tokenfst
