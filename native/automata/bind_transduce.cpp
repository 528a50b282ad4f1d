// Bindings of the composition of automata with transducers.
#include <nanobind/stl/tuple.h>

#include <cmath>

#include "automata/bindings.h"
#include "automata/transduce.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

void require_side(int32_t low, int32_t high, int32_t num_labels) {
  require(low < kFirstLabel ? low <= high && high < kFirstLabel : low == high && high - kFirstLabel < num_labels,
          "an arc of a transducer is over no bytes or label");
}

void require_transducer(std::span<const TransducerArc> arcs, int32_t num_states, int32_t num_labels) {
  require_countable(arcs.size(), "arcs");
  for (size_t at = 0; at < arcs.size(); ++at) {
    const TransducerArc& arc = arcs[at];
    require(kNone <= arc.in_low && kSame <= arc.out_low, "a symbol of a transducer is negative");
    if (arc.in_low != kNone) require_side(arc.in_low, arc.in_high, num_labels);
    if (arc.out_low >= 0) require_side(arc.out_low, arc.out_high, num_labels);
    require(arc.out_low != kSame || arc.in_low != kNone, "an arc writes what it reads, and reads nothing");
    require(0 <= arc.source && arc.source < num_states && 0 <= arc.target && arc.target < num_states,
            "an arc leads outside of the states");
    require(at == 0 || arcs[at - 1].source < arc.source ||
                (arcs[at - 1].source == arc.source && arcs[at - 1].in_low <= arc.in_low),
            "the arcs of a transducer do not ascend");
  }
}

void require_costs(std::span<const double> costs, size_t num_arcs) {
  require(costs.empty() || costs.size() == num_arcs, "there is a cost for each arc, or none at all");
  for (double cost : costs) require(std::isfinite(cost), "a cost is not finite");
}

auto image_of(int32_t nfa_states, Records<Range> nfa_arcs, Records<Edge> nfa_epsilon, Values<double> nfa_arc_costs,
              Values<double> nfa_epsilon_costs, int32_t num_states, Records<TransducerArc> arcs, Records<Edge> epsilon,
              Values<double> arc_costs, Values<double> epsilon_costs, int32_t num_labels, bool weighted,
              bool each_path_once, int64_t max_states, Budget& budget) {
  require(nfa_states >= 2 && num_states >= 2, "an automaton has a start and an end");
  require_num_labels(num_labels);
  require_ranges(nfa_arcs, nfa_states, num_labels);
  require_edges(nfa_epsilon, nfa_states);
  require_transducer(arcs, num_states, num_labels);
  require_edges(epsilon, num_states);
  require_costs(nfa_arc_costs, nfa_arcs.size());
  require_costs(nfa_epsilon_costs, nfa_epsilon.size());
  require_costs(arc_costs, arcs.size());
  require_costs(epsilon_costs, epsilon.size());
  const CostedNfa nfa{nfa_states, nfa_arcs, nfa_epsilon, nfa_arc_costs, nfa_epsilon_costs};
  const CostedTransducer transducer{num_states, arcs, epsilon, arc_costs, epsilon_costs};
  const Image found = unlocked([&] { return image(nfa, transducer, {weighted, each_path_once, max_states}, budget); });
  return std::make_tuple(found.num_states, records(found.arcs), records(found.epsilon), array_of(found.arc_costs),
                         array_of(found.epsilon_costs));
}

}  // namespace

void bind_transduce(nb::module_& m) {
  m.def("image", &image_of, "nfa_states"_a, "nfa_arcs"_a, "nfa_epsilon"_a, "nfa_arc_costs"_a, "nfa_epsilon_costs"_a,
        "num_states"_a, "arcs"_a, "epsilon"_a, "arc_costs"_a, "epsilon_costs"_a, "num_labels"_a, "weighted"_a,
        "each_path_once"_a, "max_states"_a, "budget"_a,
        "Return the NFA of the texts that a transducer can write when it reads a text of another NFA: the number of "
        "states, the arcs, the epsilon arcs, and the costs of both.");
}

}  // namespace automata
