#include "automata/suffix_automaton.h"

#include "support/hash.h"
#include "support/hash_index.h"

namespace automata {

namespace {

// The suffix automaton under construction; its edges are hashed by source and chunk.
class SuffixAutomaton {
 public:
  struct State {
    int32_t longest;     // the number of chunks of the longest string that leads here
    int32_t link;        // the suffix link
    int32_t chunk;       // the chunk that all edges into it read
    int32_t first_edge;  // its edges, as a linked list
  };
  struct TrieEdge {
    int32_t source, chunk, target, next_edge;
  };

  SuffixAutomaton(size_t length, Budget& budget) : states(budget), edges(budget), index_(budget) {
    states.push_back({0, kNone, kNone, kNone});
    states.reserve(2 * length + 1);
    edges.reserve(3 * length + 1);
  }

  void append(int32_t chunk) {
    const int32_t added = add_state(states[last_].longest + 1, chunk);
    int32_t state = last_;
    int32_t known = kNone;
    while (state != kNone && (known = edge(state, chunk)) == kNone) {
      add_edge(state, chunk, added);
      state = states[state].link;
    }
    states[added].link = state == kNone ? 0 : split(state, known, chunk);
    last_ = added;
  }

  Vector<State> states;
  Vector<TrieEdge> edges;

 private:
  int32_t add_state(int32_t longest, int32_t chunk) {
    states.push_back({longest, kNone, chunk, kNone});
    return static_cast<int32_t>(states.size()) - 1;
  }
  static uint32_t hash(int32_t state, int32_t chunk) {
    return support::finished(support::mixed(static_cast<uint64_t>(state) << 32, static_cast<uint32_t>(chunk)));
  }
  // Return the edge of a state over a chunk, or kNone.
  int32_t edge(int32_t state, int32_t chunk) const {
    return index_.find(hash(state, chunk),
                       [&](int32_t number) { return edges[number].source == state && edges[number].chunk == chunk; });
  }
  void add_edge(int32_t state, int32_t chunk, int32_t target) {
    const auto number = static_cast<int32_t>(edges.size());
    index_.reserve_one();
    edges.push_back({state, chunk, target, states[state].first_edge});
    index_.add(hash(state, chunk));
    states[state].first_edge = number;
  }
  // Return the state for the longest suffix that also ends elsewhere: the target of an edge, or a state split off from
  // it.
  int32_t split(int32_t state, int32_t known, int32_t chunk) {
    const int32_t other = edges[known].target;
    if (states[other].longest == states[state].longest + 1) return other;
    const int32_t clone = add_state(states[state].longest + 1, chunk);
    states[clone].link = states[other].link;
    for (int32_t copied = states[other].first_edge; copied != kNone; copied = edges[copied].next_edge) {
      add_edge(clone, edges[copied].chunk, edges[copied].target);
    }
    for (int32_t at = state; at != kNone; at = states[at].link) {
      const int32_t leading = edge(at, chunk);
      if (leading == kNone || edges[leading].target != other) break;
      edges[leading].target = clone;
    }
    states[other].link = clone;
    return clone;
  }

  support::HashIndex index_;  // of the edges
  int32_t last_ = 0;
};

}  // namespace

SpelledSubstrings substrings(std::span<const uint8_t> text, std::span<const Chunk> chunks,
                             std::span<const int32_t> numbers, Budget& budget) {
  SuffixAutomaton automaton(numbers.size(), budget);
  for (int32_t number : numbers) {
    automaton.append(number);
    budget.spend(64);
  }
  const auto num_states = static_cast<int32_t>(automaton.states.size());
  // State 0 stays, state 1 is the end; the other states follow, and then the chains, one for each state.
  constexpr int32_t kEnd = 1;
  const auto spelled = [](int32_t state) { return state ? state + 1 : 0; };
  int64_t all_states = num_states + 1;
  Vector<int32_t> entry(num_states, 0, budget);  // where the chain of each state begins
  size_t num_arcs = automaton.edges.size();
  for (int32_t state = 1; state < num_states; ++state) {
    const int32_t size = chunks[automaton.states[state].chunk].size;
    entry[state] = size > 1 ? static_cast<int32_t>(all_states) : spelled(state);
    all_states += size - 1;
    num_arcs += size - 1;
    support::require_at_most(all_states, INT32_MAX);
  }
  SpelledSubstrings found{static_cast<int32_t>(all_states), {}, {}};
  budget.charge(sizeof(Range) * num_arcs + sizeof(Edge) * num_states);
  found.ranges.reserve(num_arcs);
  found.epsilon.reserve(num_states);
  for (const auto& edge : automaton.edges) {
    const int32_t byte = text[chunks[edge.chunk].begin];
    found.ranges.push_back({spelled(edge.source), byte, byte, entry[edge.target]});
  }
  for (int32_t state = 0; state < num_states; ++state) found.epsilon.push_back({spelled(state), kEnd});
  for (int32_t state = 1; state < num_states; ++state) {
    const Chunk chunk = chunks[automaton.states[state].chunk];
    for (int32_t place = 1; place < chunk.size; ++place) {
      const int32_t source = entry[state] + place - 1, byte = text[chunk.begin + place];
      found.ranges.push_back({source, byte, byte, place + 1 < chunk.size ? source + 1 : spelled(state)});
    }
    budget.spend(chunk.size);
  }
  return found;
}

}  // namespace automata
