// Bindings of the costs of tokens.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bindings.h"
#include "tokenfst/token_costs.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;

auto costs_of(const TokenCosts& costs, Values<int32_t> states, Budget& budget) {
  require_within(states, 0, costs.num_states(), "state");
  std::vector<TokenCost> found;
  std::vector<int32_t> place;
  unlocked([&] {
    for (size_t at = 0; at < states.size(); ++at) {
      costs.add_from(states[at], found, budget);
      place.resize(found.size(), static_cast<int32_t>(at));
    }
  });
  std::vector<int32_t> tokens;
  std::vector<int64_t> units;
  for (const auto& [token, cost] : found) {
    tokens.push_back(token);
    units.push_back(cost);
  }
  budget.release(sizeof(TokenCost) * found.size());
  return std::tuple(array(std::move(place)), array(std::move(tokens)), array(std::move(units)));
}

}  // namespace

void bind_costs(nb::module_& m) {
  nb::class_<TokenCosts>(m, "TokenCosts", "What each token costs in a state of a weighted automaton over bytes.")
      .def(nb::init<std::shared_ptr<const Vocabulary>, const automata::WeightedTables&>(), "vocabulary"_a, "tables"_a,
           nb::keep_alive<1, 3>())
      .def("of_states", &costs_of, "states"_a, "budget"_a,
           "Return the tokens that do not cost 0 in some of the states: the index of the state in `states`, the token "
           "and its cost in units, `[n]` each.");
}

}  // namespace tokenfst
