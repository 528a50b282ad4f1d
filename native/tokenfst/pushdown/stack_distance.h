// StackDistance: the number of tokens to the end from a state with a stack, and after each class that it allows.
//
// The context of a stack follows from the context of the stack below and the topmost symbol
// (`tokenfst/pushdown/distance.h`). Each cell of a stack caches its context, so a state one token later costs one or
// two steps, however high the stack is. The stack below the symbols on a path adds the same cost to all classes that
// the path allows, so distances after classes are cached by path and context, without that cost.
//
// If contexts take more memory than allowed, all are dropped and computed again on demand; a new owner invalidates the
// notes of cells.
//
// Safe to call from several threads, and to share between automata with the same tables. With `may_wait` false, a call
// neither waits for another thread nor computes anything; it returns nothing if the distances are not known yet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "support/owned_mutex.h"
#include "tokenfst/pushdown/cache_key.h"
#include "tokenfst/pushdown/distance.h"
#include "tokenfst/pushdown/state.h"

namespace tokenfst {

// The distances after the classes that a path allows, with some context below the path.
struct ClassDistances {
  struct Class {
    int32_t number;  // occurs several times if several nodes of the path have it
    int32_t least;   // the fewest tokens to the end after it, less the cost counted for the stack below
  };
  std::vector<Class> classes;
  std::vector<int32_t> levels;  // the distinct distances, ascending; kFar if it cannot be reached
  int64_t number;               // no two have the same one
};

class StackDistance {
 public:
  struct Capacity {
    int64_t max_bytes;         // of everything
    size_t max_context_bytes;  // of contexts, before they are dropped
  };
  struct Found {
    std::shared_ptr<const ClassDistances> classes;
    int32_t cost;  // to be added to all distances
  };

  StackDistance(std::shared_ptr<const PushdownTables> tables, Capacity capacity, Budget::Interrupt interrupt);

  const PushdownTables& tables() const { return *tables_; }

  // Return the fewest tokens from a state with a stack to the end, counting the end token; kFar if it cannot be
  // reached.
  std::optional<int32_t> least(const Configuration& configuration, bool may_wait);
  // Return the distances after the classes that a path of a stack allows.
  std::optional<Found> after_classes(std::span<const int32_t> path, const Stack& stack, bool may_wait);
  // Return all contexts that occur with any stack; nothing if there are more than `max_contexts`.
  std::optional<ContextDistances> by_context(int32_t max_contexts);

 private:
  void prepare();
  void forget();
  std::optional<Context> context_of(const Stack::Cell* cell, bool may_find);
  std::shared_ptr<const ClassDistances> made(std::span<const int32_t> path, std::span<const Context> depths);
  void add_node(int32_t node, const Context& context, ClassDistances& found);

  const std::shared_ptr<const PushdownTables> tables_;
  const Capacity capacity_;
  support::OwnedMutex mutex_;
  Budget budget_;
  std::unique_ptr<const PopDistances> pop_distances_;
  std::unique_ptr<StackContexts> contexts_;
  std::shared_ptr<const void> owner_;  // of the notes of cells; replaced whenever all contexts are dropped
  int64_t num_made_ = 0;
  SpanCache<ClassDistances> cache_;
};

}  // namespace tokenfst
