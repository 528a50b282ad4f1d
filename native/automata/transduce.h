// Composition of an NFA with a transducer, projected to what the transducer writes: the image of a language.
//
// A state is a reachable triple: a state of the NFA, one of the transducer, and a filter. Arcs are over runs of bytes
// on both sides, and an arc that writes what it reads keeps a run together, so that copying any byte is one arc.
//
// Where costs of several paths are summed, each pair of paths must be found once. Epsilon arcs of the NFA are then
// taken before arcs of the transducer that read nothing: after one of those the filter is set, and forbids the former
// until both sides read a symbol. (Mohri, Pereira & Riley 1996; the "sequence" filter of OpenFst.)
//
// Rejected: OpenFst's `compose`, which the tests compare with; it has an arc for each byte.
#pragma once

#include <span>

#include "automata/arcs.h"

namespace automata {

// An arc that reads a byte of a run, or one label, and writes any byte of another run, or one label. `in_low` is kNone
// where it reads nothing. `out_low` is kNone where it writes nothing, and kSame where it writes what it reads.
struct TransducerArc {
  int32_t source, in_low, in_high, out_low, out_high, target;
};
constexpr int32_t kSame = -2;

// Automata whose state 0 is the start and whose state 1 is the only final one. Without weights the costs are empty.
struct CostedNfa {
  int32_t num_states;
  std::span<const Range> arcs;
  std::span<const Edge> epsilon;
  std::span<const double> arc_costs, epsilon_costs;
};
struct CostedTransducer {
  int32_t num_states;
  std::span<const TransducerArc> arcs;  // by source, and then by the first symbol read
  std::span<const Edge> epsilon;
  std::span<const double> arc_costs, epsilon_costs;
};

struct Image {
  explicit Image(Budget& budget) : arcs(budget), epsilon(budget), arc_costs(budget), epsilon_costs(budget) {}

  int32_t num_states = 0;
  Vector<Range> arcs;
  Vector<Edge> epsilon;
  Vector<double> arc_costs, epsilon_costs;  // empty where no side has weights
};

struct ImageOptions {
  bool weighted;        // whether to carry costs
  bool each_path_once;  // whether costs of paths are summed: epsilon arcs are filtered, and symbols read are counted
  int64_t max_states;
};

// Return the NFA of the image, trim but for its start and its end. Throw LimitExceeded past `max_states`.
Image image(const CostedNfa& nfa, const CostedTransducer& transducer, const ImageOptions& options, Budget& budget);

}  // namespace automata
