#include "tokenfst/pushdown/stack_distance.h"

#include <algorithm>
#include <limits>

namespace tokenfst {

namespace {

constexpr size_t kMaxEntries = 1 << 12;

}  // namespace

StackDistance::StackDistance(std::shared_ptr<const PushdownTables> tables, Capacity capacity,
                             Budget::Interrupt interrupt)
    : tables_(std::move(tables)),
      capacity_(capacity),
      budget_(capacity.max_bytes, std::numeric_limits<double>::infinity(), interrupt),
      cache_(kMaxEntries) {}

// Make the data that every call needs; if it throws, the next call continues from there.
void StackDistance::prepare() {
  if (!pop_distances_) {
    pop_distances_ = std::make_unique<const PopDistances>(*tables_, budget_);
  }
  if (contexts_ && contexts_->num_bytes() > capacity_.max_context_bytes) forget();
  if (!contexts_) {
    owner_ = std::make_shared<const char>();
    contexts_ = std::make_unique<StackContexts>(*pop_distances_, budget_);
  }
}

void StackDistance::forget() {
  contexts_.reset();
  cache_.clear();
}

// Return the context of a stack, and the total cost counted for it.
std::optional<Context> StackDistance::context_of(const Stack::Cell* cell, bool may_find) {
  Vector<const Stack::Cell*> unknown(budget_);
  CellNote note;
  for (; cell && !cell->noted(owner_.get(), note); cell = cell->below()) {
    if (!may_find) return std::nullopt;
    unknown.push_back(cell);
  }
  Context context{note.number, note.cost};
  for (; !unknown.empty(); unknown.pop_back()) {
    const Context above = contexts_->onto(context.number, unknown.back()->symbol());
    context = {above.number, std::min(context.cost + above.cost, kFar)};
    unknown.back()->note({owner_, context.number, context.cost});
    budget_.spend(8);
  }
  return context;
}

std::optional<int32_t> StackDistance::least(const Configuration& configuration, bool may_wait) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (may_wait) {
    lock.lock();
    prepare();
  } else if (!lock.try_lock() || !contexts_) {
    return std::nullopt;
  }
  const auto context = context_of(configuration.stack.top(), may_wait);
  if (!context) return std::nullopt;
  return std::min(contexts_->distance(context->number, configuration.state) + context->cost, kFar);
}

std::optional<StackDistance::Found> StackDistance::after_classes(std::span<const int32_t> path, const Stack& stack,
                                                                 bool may_wait) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (may_wait) {
    lock.lock();
    prepare();
  } else if (!lock.try_lock() || !contexts_) {
    return std::nullopt;
  }
  std::vector<Context> depths;
  const Stack::Cell* cell = stack.top();
  for (size_t depth = 0; depth < path.size(); ++depth) {
    const auto context = context_of(cell, may_wait);
    if (!context) return std::nullopt;
    depths.push_back(*context);
    // The path guarantees that the symbols are there.
    if (depth + 1 < path.size()) cell = cell->below();
  }
  // Paths of the same nodes may lead through different contexts.
  CacheKey key;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    for (int32_t part : {path[depth], depths[depth].number, depths[depth].cost - depths.back().cost}) key.push(part);
  }
  Found found{cache_.find(key.values()), depths.back().cost};
  if (!found.classes && !may_wait) return std::nullopt;
  if (!found.classes) cache_.insert({key.values().begin(), key.values().end()}, found.classes = made(path, depths));
  return found;
}

std::shared_ptr<const ClassDistances> StackDistance::made(std::span<const int32_t> path,
                                                          std::span<const Context> depths) {
  auto found = std::make_shared<ClassDistances>();
  found->number = num_made_++;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    add_node(path[depth], {depths[depth].number, depths[depth].cost - depths.back().cost}, *found);
  }
  for (const ClassDistances::Class& each : found->classes) found->levels.push_back(each.least);
  std::ranges::sort(found->levels);
  const auto repeated = std::ranges::unique(found->levels);
  found->levels.erase(repeated.begin(), repeated.end());
  return found;
}

// Add the classes of a node, above a stack of some context.
void StackDistance::add_node(int32_t node, const Context& context, ClassDistances& found) {
  const auto edges = tables_->edges_of(node);
  for (const PushdownTables::Edge& edge : edges) {
    int32_t least = kFar;
    for (int32_t move = tables_->outcome_offsets[edge.outcome]; move < tables_->outcome_offsets[edge.outcome + 1];
         ++move) {
      least = std::min(least, contexts_->rest(context.number, pop_distances_->pushes().of_move(move)));
    }
    found.classes.push_back({edge.number, least < kFar ? least + context.cost : kFar});
  }
  budget_.spend(8 * static_cast<int64_t>(edges.size()));
}

std::optional<ContextDistances> StackDistance::by_context(int32_t max_contexts) {
  const std::lock_guard lock(mutex_);
  if (!pop_distances_) {
    pop_distances_ = std::make_unique<const PopDistances>(*tables_, budget_);
  }
  return context_distances(*pop_distances_, max_contexts, budget_);
}

}  // namespace tokenfst
