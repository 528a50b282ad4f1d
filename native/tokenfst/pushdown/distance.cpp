#include "tokenfst/pushdown/distance.h"

#include <algorithm>

#include "support/interner.h"

namespace tokenfst {

namespace {

constexpr Context kUnknownContext{kUnknown, 0};

}  // namespace

StackContexts::StackContexts(const PopDistances& pop_distances, Budget& budget)
    : pop_distances_(pop_distances),
      budget_(budget),
      vectors_(budget),
      onto_(0, pop_distances.tables().num_symbols, kUnknownContext, budget),
      by_push_set_(pop_distances.num_push_sets(), 0, budget),
      found_(pop_distances.kinds().size(), 0, budget) {
  for (int32_t kind = 0; kind < pop_distances.kinds().size(); ++kind) found_[kind] = pop_distances.to_end(kind);
  vectors_.number(found_);
}

size_t StackContexts::num_bytes() const {
  return static_cast<size_t>(size()) * (4 * found_.size() + sizeof(Context) * onto_.columns());
}

Context StackContexts::onto(int32_t context, int32_t symbol) {
  while (onto_.rows() <= static_cast<size_t>(context)) onto_.add_row(kUnknownContext);
  if (onto_[context][symbol].number != kUnknown) return onto_[context][symbol];
  const auto steps = pop_distances_.columns().of(symbol).size() * by_push_set_.size() / 8 + 4 * found_.size();
  budget_.spend(static_cast<int64_t>(steps));
  pop_distances_.onto(vectors_[context], symbol, by_push_set_, found_);
  const Context above = vectors_.number(found_);
  return onto_[context][symbol] = above.cost >= kFar ? kNoEnd : above;
}

int32_t StackContexts::rest(int32_t context, int32_t push) const {
  const auto vector = vectors_[context];
  const auto landings = pop_distances_.landings(push);
  budget_.spend(static_cast<int64_t>(landings.size()) + 2);
  int32_t least = kFar;
  for (const PopDistances::Landing& landing : landings) least = std::min(least, vector[landing.kind] + landing.cost);
  return least;
}

namespace {

// Add how many tokens follow each move, on stacks of all contexts. Equal columns are one.
void add_rests(const StackContexts& contexts, ContextDistances& found, Budget& budget) {
  const Pushes& pushes = contexts.pop_distances().pushes();
  const size_t num_moves = contexts.pop_distances().tables().moves.size();
  support::Interner<int32_t> columns(budget);
  Vector<int32_t> column_of(pushes.size(), kUnknown, budget);
  budget.charge(sizeof(int32_t) * num_moves);
  found.rest_of.reserve(num_moves);
  for (size_t move = 0; move < num_moves; ++move) {
    const int32_t push = pushes.of_move(static_cast<int32_t>(move));
    if (column_of[push] == kUnknown) {
      for (int32_t context = 0; context < contexts.size(); ++context) {
        columns.push(std::min(contexts.rest(context, push), kFar));
      }
      column_of[push] = columns.close().number;
    }
    found.rest_of.push_back(column_of[push]);
  }
  budget.charge(sizeof(int32_t) * static_cast<size_t>(columns.num_values()));
  found.rest.reserve(static_cast<size_t>(columns.num_values()));
  for (int32_t context = 0; context < contexts.size(); ++context) {
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
