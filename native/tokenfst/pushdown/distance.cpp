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

std::optional<ContextDistances> context_distances(const PopDistances& pop_distances, int32_t max_contexts,
                                                  Budget& budget) {
  StackContexts contexts(pop_distances, budget);
  const auto num_symbols = pop_distances.tables().num_symbols;
  const auto num_moves = static_cast<int32_t>(pop_distances.tables().moves.size());
  Vector<int32_t> next(budget), cost(budget);
  // Contexts are added during the loop.
  for (int32_t context = 0; context < contexts.size(); ++context) {
    if (contexts.size() > max_contexts) return std::nullopt;
    for (int32_t symbol = 0; symbol < num_symbols; ++symbol) {
      const Context above = contexts.onto(context, symbol);
      next.push_back(above.number), cost.push_back(above.cost);
    }
  }
  const size_t size = static_cast<size_t>(contexts.size()) * num_moves;
  budget.charge(4 * (size + next.size() + cost.size()));
  ContextDistances found{contexts.size(), {next.begin(), next.end()}, {cost.begin(), cost.end()}, {}, 0};
  found.rest.reserve(size);
  Vector<int32_t> by_push(pop_distances.pushes().size(), kUnknown, budget);
  for (int32_t context = 0; context < contexts.size(); ++context) {
    std::ranges::fill(by_push, kUnknown);
    for (int32_t move = 0; move < num_moves; ++move) {
      int32_t& rest = by_push[pop_distances.pushes().of_move(move)];
      if (rest == kUnknown) rest = contexts.rest(context, pop_distances.pushes().of_move(move));
      found.rest.push_back(rest);
    }
    budget.spend(num_moves + static_cast<int64_t>(by_push.size()) / 4);
  }
  found.first = contexts.distance(0, pop_distances.tables().start);
  return found;
}

}  // namespace tokenfst
