// Bindings of automata with a register: their tables and their construction.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "automata/bindings.h"
#include "automata/counted/compile.h"
#include "automata/counted/product.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Small enough that the sum of two register values does not overflow.
constexpr int32_t kMaxRegister = (1 << 30) - 1;

void require_action(int32_t high, int32_t action, int32_t max_register) {
  require(action >= 0 ? action <= max_register && high + action <= max_register : ~action <= max_register,
          "an action leads past `max_register`");
}

// Tables from arrays.

void require_arcs(const CountedTables& tables) {
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    for (int32_t column = 0; column < tables.num_classes; ++column) {
      int32_t before = kNone;
      for (const CountedArc& arc : tables.arcs(state, column)) {
        require(before < arc.low && arc.low <= arc.high && arc.high <= tables.max_register,
                "guards are not in order, or past `max_register`");
        require(0 <= arc.target && arc.target < tables.num_states(), "an arc leads outside of the states");
        require_action(arc.high, arc.action, tables.max_register);
        before = arc.high;
      }
    }
  }
}

CountedTables tables_of(int32_t start, int32_t max_register, int32_t num_classes, Values<uint8_t> byte_class,
                        Values<int32_t> offsets, Records<CountedArc> arcs, Values<int32_t> final_from) {
  CountedTables tables;
  require_countable(final_from.size(), "states");
  require(0 <= max_register && max_register <= kMaxRegister, "`max_register` is out of range");
  require(1 <= num_classes && num_classes <= 256 && byte_class.size() == 256, "each byte has one of 256 classes");
  require_within(byte_class, 0, num_classes, "class");
  tables.final_from.assign(final_from.begin(), final_from.end());
  tables.start = start, tables.max_register = max_register, tables.num_classes = num_classes;
  std::ranges::copy(byte_class, tables.byte_class.begin());
  require_within(start, kNone, tables.num_states(), "start");
  require_within(final_from, kNone, int64_t{max_register} + 1, "least value");
  require_countable(arcs.size(), "arcs");
  require_offsets(offsets, final_from.size() * num_classes, arcs.size(), "`offsets`");
  tables.offsets.assign(offsets.begin(), offsets.end());
  tables.guarded_arcs.assign(arcs.begin(), arcs.end());
  require_arcs(tables);
  return tables;
}

std::optional<std::pair<int32_t, int32_t>> step(const CountedTables& tables, int32_t state, int32_t value,
                                                int32_t byte) {
  require_within(state, 0, tables.num_states(), "state");
  require_within(value, 0, int64_t{tables.max_register} + 1, "register value");
  require_within(byte, 0, 256, "byte");
  const auto reached = tables.step({state, value}, static_cast<uint8_t>(byte));
  if (reached.state == kNone) return std::nullopt;
  return std::pair(reached.state, reached.value);
}

// Construction.

void require_marked(std::span<const MarkedEdge> epsilon, std::span<const int32_t> loop_of,
                    std::span<const Loop> loops) {
  require_countable(loop_of.size() * 4, "states");
  require_countable(epsilon.size(), "epsilon arcs");
  const auto num_states = static_cast<int64_t>(loop_of.size());
  require_within(loop_of, kNone, static_cast<int64_t>(loops.size()), "loop");
  for (const Loop& loop : loops) {
    require(1 <= loop.low && (loop.high == kNone || loop.low <= loop.high), "the bounds of a loop are out of order");
    require_within(static_cast<int32_t>(loop.prefers), 0, 3, "preference");
  }
  for (const MarkedEdge& edge : epsilon) {
    require_within(edge.source, 0, num_states, "state");
    require_within(edge.target, 0, num_states, "state");
    require_within(static_cast<int32_t>(edge.mark), 0, 4, "mark");
    const int32_t source = loop_of[edge.source], target = loop_of[edge.target];
    const bool stays = edge.mark == Mark::kPlain ? source == target : source == target && source != kNone;
    require(edge.mark == Mark::kEnter  ? source == kNone && target != kNone
            : edge.mark == Mark::kExit ? source != kNone && target == kNone
                                       : stays,
            "a mark does not enter, go round or leave a loop");
  }
}

void require_inside_loops(std::span<const Range> ranges, std::span<const int32_t> loop_of) {
  for (const Range& range : ranges) {
    require(loop_of[range.source] == loop_of[range.target], "an arc enters or leaves a loop");
  }
}

std::optional<std::variant<CountedTables, std::pair<int32_t, int32_t>>> counted_of(
    Records<Range> ranges, Records<MarkedEdge> epsilon, Values<int32_t> loop_of, Records<Loop> loops,
    int32_t max_register, bool is_product, int64_t max_states, int64_t max_bytes, Budget& budget) {
  require(loop_of.size() >= 2, "a layout has a start and an end");
  require_marked(epsilon, loop_of, loops);
  require_ranges(ranges, static_cast<int32_t>(loop_of.size()), 0);
  require_inside_loops(ranges, loop_of);
  require(0 <= max_register && max_register <= kMaxRegister, "`max_register` is out of range");
  for (const Loop& loop : loops) require(std::max(loop.low, loop.high) <= max_register, "a loop counts further");
  const CountedLayout layout{ranges, epsilon, loop_of, loops, max_register, is_product};
  CountedAutomaton found = unlocked([&] { return compile(layout, max_states, max_bytes, budget); });
  if (found.tables) return std::move(*found.tables);
  if (found.clash) return std::pair(found.clash->first, found.clash->second);
  return std::nullopt;
}

auto paired_of(Records<Range> ranges, Records<MarkedEdge> epsilon, int32_t num_states, const ByteTables& automaton,
               Budget& budget) {
  require(num_states >= 0, "there are no negative numbers of states");
  require_countable(static_cast<size_t>(num_states) * automaton.num_states(), "pairs of states");
  // Labels need no limit: the automaton reads only bytes, so the product drops arcs over labels.
  require_ranges(ranges, num_states, INT32_MAX - kFirstLabel);
  for (const MarkedEdge& edge : epsilon) {
    require_within(edge.source, 0, num_states, "state");
    require_within(edge.target, 0, num_states, "state");
  }
  const PairedArcs found = unlocked([&] { return paired(ranges, epsilon, automaton, budget); });
  return std::tuple(records(found.ranges), records(found.epsilon));
}

}  // namespace

void bind_counted(nb::module_& m) {
  nb::class_<CountedTables>(m, "CountedTables", "A deterministic automaton over bytes with a register.")
      .def(nb::new_(&tables_of), "start"_a, "max_register"_a, "num_classes"_a, "byte_class"_a, "offsets"_a, "arcs"_a,
           "final_from"_a)
      .def_ro("start", &CountedTables::start)
      .def_ro("max_register", &CountedTables::max_register)
      .def_prop_ro("num_states", &CountedTables::num_states)
      .def_ro("num_classes", &CountedTables::num_classes)
      .def_prop_ro("num_bytes", &CountedTables::num_bytes)
      .def_prop_ro("byte_class", &shown<&CountedTables::byte_class>)
      .def_prop_ro("offsets", &shown<&CountedTables::offsets>)
      .def_prop_ro("final_from", &shown<&CountedTables::final_from>)
      .def_prop_ro("arcs", &shown<&CountedTables::guarded_arcs>)
      .def("step", &step, "state"_a, "value"_a, "byte"_a,
           "Return the state and the register value after a byte, or None if there is no arc.")
      .def(
          "accepts", [](const CountedTables& tables, const nb::bytes& text) { return tables.accepts(bytes_of(text)); },
          "text"_a);
  m.def("compile_counted", &counted_of, "ranges"_a, "epsilon"_a, "loop_of"_a, "loops"_a, "max_register"_a,
        "is_product"_a, "max_states"_a, "max_bytes"_a, "budget"_a,
        "Return the minimal automaton of a layout with loops; or two loops that clash; or None if it would take too "
        "many states, bytes or separate counts.");
  m.def("counted_product", &paired_of, "ranges"_a, "epsilon"_a, "num_states"_a, "automaton"_a, "budget"_a,
        "Return the arcs and the epsilon arcs of a layout that runs in parallel with an automaton.");
}

}  // namespace automata
