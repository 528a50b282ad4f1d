#include "tokenfst/pushdown/distance.h"

#include <algorithm>

namespace tokenfst {

namespace {

constexpr Context kUnknownContext{kUnknown, 0};

}  // namespace

StackContexts::StackContexts(const PopDistances& pop_distances, Budget& budget)
    : pop_distances_(pop_distances),
      budget_(budget),
      vectors_(budget),
      onto_(0, pop_distances.tables().num_symbols, kUnknownContext, budget),
      below_(budget),
      above_(budget),
      by_push_set_(pop_distances.num_push_sets(), 0, budget),
      found_(pop_distances.kinds().size(), 0, budget) {
  for (int32_t kind = 0; kind < pop_distances.kinds().size(); ++kind) found_[kind] = pop_distances.to_end(kind);
  vectors_.number(found_);
}

size_t StackContexts::num_bytes() const {
  const size_t above = sizeof(int32_t) * below_.num_values() + sizeof(Context) * above_.size();
  return static_cast<size_t>(size()) * (4 * found_.size() + sizeof(Context) * onto_.columns()) + above;
}

Context StackContexts::onto(int32_t context, int32_t symbol) {
  while (onto_.rows() <= static_cast<size_t>(context)) onto_.add_row(kUnknownContext);
  if (onto_[context][symbol].number != kUnknown) return onto_[context][symbol];
  return onto_[context][symbol] = compute_onto(context, symbol);
}

Context StackContexts::compute_onto(int32_t context, int32_t symbol) {
  const auto vector = vectors_[context];
  const auto columns = pop_distances_.columns().of(symbol);
  budget_.spend(static_cast<int64_t>(columns.size()) + 8);
  int32_t least = kFar;
  for (const PopColumns::Popped& popped : columns) least = std::min(least, vector[popped.kind]);
  if (least >= kFar) return kNoEnd;
  below_.discard();
  below_.push(symbol);
  for (const PopColumns::Popped& popped : columns) {
    const int32_t distance = vector[popped.kind];
    below_.push(distance < kFar ? distance - least : kFar);
  }
  support::reserve_more(above_, 1);
  const auto [number, is_new] = below_.close();
  if (is_new) above_.push_back(kUnknownContext);
  if (above_[number].number == kUnknown) {
    const auto steps = columns.size() * by_push_set_.size() / 8 + 4 * found_.size();
    budget_.spend(static_cast<int64_t>(steps));
    pop_distances_.onto(vector, symbol, by_push_set_, found_);
    const Context above = vectors_.number(found_);
    above_[number] = above.cost >= kFar ? kNoEnd : Context{above.number, above.cost - least};
  }
  const Context above = above_[number];
  return above.cost >= kFar ? kNoEnd : Context{above.number, above.cost + least};
}

int32_t StackContexts::rest(int32_t context, int32_t push) {
  const Pushes& pushes = pop_distances_.pushes();
  Context at{context, 0};
  for (; pushes[push].symbol != Pushes::kNoSymbol; push = pushes[push].before) {
    const Context above = onto(at.number, pushes[push].symbol);
    at = {above.number, at.cost + above.cost};
    if (at.cost >= kFar) return kFar;
    budget_.spend(2);
  }
  return std::min(vectors_[at.number][~pushes[push].before] + at.cost, kFar);
}

namespace {

// Add how many tokens follow each move, on stacks of all contexts. Equal columns are one.
void add_rests(StackContexts& contexts, ContextDistances& found, Budget& budget) {
  const Pushes& pushes = contexts.pop_distances().pushes();
  const int32_t num_contexts = contexts.size();  // those of all stacks, so there will be no more
  const size_t num_moves = contexts.pop_distances().tables().moves.size();
  support::Interner<int32_t> columns(budget);
  Vector<int32_t> column_of(pushes.size(), kUnknown, budget);
  budget.charge(sizeof(int32_t) * num_moves);
  found.rest_of.reserve(num_moves);
  for (size_t move = 0; move < num_moves; ++move) {
    const int32_t push = pushes.of_move(static_cast<int32_t>(move));
    if (column_of[push] == kUnknown) {
      for (int32_t context = 0; context < num_contexts; ++context) columns.push(contexts.rest(context, push));
      column_of[push] = columns.close().number;
    }
    found.rest_of.push_back(column_of[push]);
  }
  budget.charge(sizeof(int32_t) * static_cast<size_t>(columns.num_values()));
  found.rest.reserve(static_cast<size_t>(columns.num_values()));
  for (int32_t context = 0; context < num_contexts; ++context) {
    for (int32_t column = 0; column < columns.size(); ++column) found.rest.push_back(columns[column][context]);
    budget.spend(columns.size());
  }
}

}  // namespace

std::optional<ContextDistances> context_distances(const PopDistances& pop_distances, int32_t max_contexts,
                                                  Budget& budget) {
  StackContexts contexts(pop_distances, budget);
  const auto num_symbols = pop_distances.tables().num_symbols;
  Vector<int32_t> next(budget), cost(budget);
  // Contexts are added during the loop.
  for (int32_t context = 0; context < contexts.size(); ++context) {
    if (contexts.size() > max_contexts) return std::nullopt;
    for (int32_t symbol = 0; symbol < num_symbols; ++symbol) {
      const Context above = contexts.onto(context, symbol);
      next.push_back(above.number), cost.push_back(above.cost);
    }
  }
  ContextDistances found{contexts.size(),
                         support::charged_copy(next, budget),
                         support::charged_copy(cost, budget),
                         {},
                         {},
                         contexts.distance(0, pop_distances.tables().start)};
  add_rests(contexts, found, budget);
  return found;
}

}  // namespace tokenfst
