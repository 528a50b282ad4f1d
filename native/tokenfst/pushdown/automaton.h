// PushdownAutomaton: an exact automaton over tokens with a stack.
//
//     path     the nodes that the stack selects in the context tree of a state (`tokenfst/pushdown/tables.h`)
//     mask     the classes of all edges of the nodes of a path, cached by path: states with equal paths share a mask
//     advance  takes the edge of the token's class, which some node of the path has
//
// With a limited stack, a move is taken only if the free part of the stack suffices to complete the text.
//
// The tables never change; masks and distances are made on demand and cached. A call with `may_wait` false does
// nothing, and reports so, if it would have to wait for another thread or to make a mask.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tokenfst/automaton.h"
#include "tokenfst/masks.h"
#include "tokenfst/pushdown/cache_key.h"
#include "tokenfst/pushdown/stack_distance.h"
#include "tokenfst/pushdown/state.h"
#include "tokenfst/pushdown/tables.h"

namespace tokenfst {

class PushdownAutomaton : public Automaton {
 public:
  static constexpr int32_t kNoMaxDepth = -1;

  struct Parts {
    std::shared_ptr<const PushdownTables> tables;
    std::shared_ptr<const std::vector<ClassRun>> runs;  // the class of every rank
    std::shared_ptr<StackDistance> distance;
    int32_t max_depth;  // of the stack
    size_t max_masks;   // the most that are kept
  };

  PushdownAutomaton(std::shared_ptr<const Vocabulary> vocabulary, Parts parts);

  const Parts& parts() const { return parts_; }
  const PushdownTables& tables() const { return *parts_.tables; }
  std::span<const ClassRun> runs() const { return *parts_.runs; }
  StackDistance& distance() const { return *parts_.distance; }
  int32_t class_of(int32_t token) const;
  size_t num_bytes() const { return tables().num_bytes() + sizeof(ClassRun) * runs().size(); }

  // Return the states before the first token and after an end token.
  PushdownState start() const { return PushdownState({tables().start, Stack()}); }
  PushdownState end() const { return PushdownState({tables().end_state(), Stack()}); }
  bool has_state(const PushdownState& state) const;
  bool is_final(const PushdownState& state) const;
  // Return whether a state allows any token.
  bool allows_any(const PushdownState& state) const;

  struct Advanced {
    std::optional<PushdownState> state;  // none if the token is not allowed
    bool too_many = false;               // whether the text has more derivations side by side than are carried
  };
  Advanced advance(const PushdownState& state, int32_t token) const;

  // Return the least number of tokens to the end of the text, without a limit on the stack.
  std::optional<int64_t> min_tokens(const PushdownState& state, bool may_wait) const;
  // Write a mask; return whether it did.
  bool fill(const PushdownState& state, int64_t remaining, std::span<uint32_t> out, bool may_wait);

  void fill(const State& state, int64_t remaining, std::span<uint32_t> out) override;

 private:
  using Mask = std::shared_ptr<const Words>;
  // The free part of a stack, if it is limited.
  using Slack = int64_t;

  Slack slack(const Stack& stack) const;
  bool has_room(const PushdownTables::Move& move, Slack slack) const { return move.room - move.pops <= slack; }
  // Call `visit(node)` for the nodes that a stack selects, from the root down, as long as it returns true.
  template <class Visit>
  void for_each_node(const Configuration& configuration, Visit visit) const;
  bool allows(const Configuration& configuration, int32_t number) const;
  Configuration moved(const Configuration& configuration, const PushdownTables::Move& move) const;
  Advanced advance_several(const PushdownState& state, int32_t number) const;

  // Return the classes that the nodes of a path allow, ascending.
  std::vector<int32_t> allowed(std::span<const int32_t> path, Slack slack) const;
  // Return the mask of a configuration, null if the call would have to wait for it.
  Mask mask(const Configuration& configuration, bool may_wait);
  Mask mask_within(const Configuration& configuration, int64_t limit, bool may_wait);
  Mask kept_mask(const CacheKey& key, bool may_wait);
  Mask keep_mask(const CacheKey& key, std::span<const int32_t> numbers);

  const Parts parts_;
  int32_t most_needed_ = 0;  // the most room that any token needs
  std::mutex mutex_;         // guards the members below
  SpanCache<Words> masks_;
  std::optional<ClassMasks> class_masks_;
};

}  // namespace tokenfst
