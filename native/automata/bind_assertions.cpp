// Bindings of the automata of texts with assertions.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>

#include "automata/assertions/subsets.h"
#include "automata/bindings.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

void require_skeleton(const Skeleton& skeleton) {
  const int32_t num_states = skeleton.num_states;
  const auto num_assertions = static_cast<int64_t>(skeleton.assertions.size());
  const auto owner = [&](int32_t state) { return skeleton.owner[state]; };
  require_countable(skeleton.arcs.size(), "arcs");
  require_countable(skeleton.jumps.size(), "jumps");
  require(num_assertions < (1 << 30) && num_states < (1 << 30), "there are too many states");
  require_within(skeleton.owner, kNone, num_assertions, "owner");
  require_within(std::array{skeleton.start, skeleton.end}, 0, num_states, "state");
  require(owner(skeleton.start) == kNone && owner(skeleton.end) == kNone, "the text has a start and an end of its own");
  for (const Arc& arc : skeleton.arcs) {
    require_within(std::array{arc.source, arc.target}, 0, num_states, "state");
    require(arc.symbol >= 0, "a symbol is negative");
    require(owner(arc.source) == owner(arc.target), "an arc leads to another automaton");
  }
  const auto by_place = [](const Arc& arc) { return std::pair(arc.source, arc.symbol); };
  require(std::ranges::is_sorted(skeleton.arcs, {}, by_place), "arcs are not in order");
  for (const GuardedJump& jump : skeleton.jumps) {
    require_within(std::array{jump.source, jump.target}, 0, num_states, "state");
    require(owner(jump.source) == owner(jump.target), "a jump leads to another automaton");
    require_within(jump.guard, kNone, 2 * num_assertions, "guard");
    const bool is_inner = owner(jump.source) == kNone || jump.guard / 2 < owner(jump.source);
    require(jump.guard == kNone || is_inner, "inner assertions come first");
  }
  for (int32_t number = 0; number < num_assertions; ++number) {
    const Assertion& assertion = skeleton.assertions[number];
    require_within(std::array{assertion.start, assertion.end}, 0, num_states, "state");
    require(owner(assertion.start) == number && owner(assertion.end) == number,
            "an assertion has a start and an end of its own");
  }
}

[[noreturn]] void raise_too_many_alternatives() {
  static_assert(Conditions::kMaxAlternatives == 4096);
  set_error("LimitExceeded", "the assertions leave more than 4,096 alternatives open at one place");
  throw nb::python_error();
}

auto subsets_of(Values<int32_t> owner, Records<Arc> arcs, Records<GuardedJump> jumps, Records<Assertion> assertions,
                int32_t start, int32_t end, int64_t max_states, Budget& budget) {
  require_countable(owner.size(), "states");
  const Skeleton skeleton{static_cast<int32_t>(owner.size()), start, end, owner, arcs, jumps, assertions};
  require_skeleton(skeleton);
  try {
    const CharacterAutomaton found = unlocked([&] { return subsets(skeleton, max_states, budget); });
    return std::make_tuple(array_of(found.offsets), records(found.arcs), flags(found.final));
  } catch (const TooManyAlternatives&) {
    raise_too_many_alternatives();
  }
}

}  // namespace

void bind_assertions(nb::module_& m) {
  m.def(
      "subsets", &subsets_of, "owner"_a, "arcs"_a, "jumps"_a, "assertions"_a, "start"_a, "end"_a, "max_states"_a,
      "budget"_a,
      "Return the offsets `[Q + 1]`, arcs `[A, 2]` and final flags `[Q]` of the automaton of a text with assertions.");
}

}  // namespace automata
