// Bindings of the costs of tokens.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bindings.h"
#include "tokenfst/token_costs.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;

auto costs_from(const TokenCosts& costs, int32_t state, Budget& budget) {
  require_within(state, 0, costs.num_states(), "state");
  const std::vector<TokenCost> found = unlocked([&] { return costs.from(state, budget); });
  std::vector<int32_t> tokens;
  std::vector<int64_t> units;
  for (const auto& [token, cost] : found) {
    tokens.push_back(token);
    units.push_back(cost);
  }
  return std::pair(array(std::move(tokens)), array(std::move(units)));
}

}  // namespace

void bind_costs(nb::module_& m) {
  nb::class_<TokenCosts>(m, "TokenCosts", "What each token costs in a state of a weighted automaton over bytes.")
      .def(nb::init<std::shared_ptr<const Vocabulary>, const automata::WeightedTables&>(), "vocabulary"_a, "tables"_a,
           nb::keep_alive<1, 3>())
      .def("from_state", &costs_from, "state"_a, "budget"_a,
           "Return the tokens that do not cost 0, ascending, and their costs in units, `[n]` each.");
}

}  // namespace tokenfst
