// Histories: the tokens by which the states of a generation were first reached.
//
//     step    the token that first led to a state, and the state before it
//     text    all tokens that led to a state, where a text was moved from another generation
//
// Only states whose steps lead back to the start, or to a text, get a history. So every step that is known is part of a
// chain that ends there, whatever other generations forget.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "support/budget.h"
#include "support/hash.h"

namespace tokenfst {

using support::Budget;
using support::Vector;

class Histories {
 public:
  // The state before some tokens, and the tokens.
  struct Last {
    int64_t state;
    std::span<const int32_t> tokens;
  };

  Histories(int64_t start, Budget& budget) : start_(start), steps_(budget), texts_(budget) {}

  bool has(int64_t state) const { return state == start_ || steps_.contains(state) || texts_.contains(state); }
  // Return the last tokens before a state; none for the start, and where they are not known.
  std::optional<Last> last(int64_t state) const {
    if (const auto step = steps_.find(state); step != steps_.end()) {
      return Last{step->second.before, {&step->second.token, 1}};
    }
    if (const auto text = texts_.find(state); text != texts_.end()) return Last{start_, text->second};
    return std::nullopt;
  }
  // Add a step, unless the state has a history, or the state before has none.
  void add(int64_t state, int64_t before, int32_t token) {
    if (!has(state) && has(before)) steps_.emplace(state, Step{before, token});
  }
  void add_text(int64_t state, const Vector<int32_t>& tokens) {
    if (has(state)) return;
    texts_.emplace(state, tokens);
    num_tokens_ += tokens.size();
  }
  // Return all tokens that lead to a state that has a history.
  Vector<int32_t> tokens_to(int64_t state) const {
    Vector<int32_t> reversed(*steps_.get_allocator().budget());
    while (const auto before = last(state)) {
      reversed.insert(reversed.end(), before->tokens.rbegin(), before->tokens.rend());
      state = before->state;
    }
    return {reversed.rbegin(), reversed.rend(), reversed.get_allocator()};
  }
  void clear() {
    Budget& budget = *steps_.get_allocator().budget();
    *this = Histories(start_, budget);
  }
  // Return about how many bytes this takes.
  size_t num_bytes() const {
    return kStepBytes * steps_.size() + kTextBytes * texts_.size() + sizeof(int32_t) * num_tokens_;
  }

 private:
  struct Step {
    int64_t before;
    int32_t token;
  };
  static constexpr size_t kStepBytes = 48, kTextBytes = 80;

  int64_t start_;
  support::Map<int64_t, Step, support::Hash> steps_;
  support::Map<int64_t, Vector<int32_t>, support::Hash> texts_;
  size_t num_tokens_ = 0;
};

}  // namespace tokenfst
