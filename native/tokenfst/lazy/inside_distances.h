// Distances to the ends of the shared parts of a LazyNfa: literal texts, fragments and counters.
//
// Every state inside a part leads to the one outer state that follows the part, and the distance to it does not depend
// on anything else. A literal text is cut into as few tokens as possible; everything else is read byte by byte, which
// bounds the number of tokens from above.
//
//     tokens_ahead_   the number of tokens for the rest of a literal text, from each of its places
//     bytes_inside_   the number of bytes from each state of a fragment to its end
//     layers_         for each counter, the number of bytes from each state of its fragment to the end, by the number
//                     of units counted so far
//
// Rejected: counting tokens that reach beyond a literal text (they depend on what follows it).
#pragma once

#include <cstdint>
#include <vector>

#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/nfa.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

class InsideDistances {
 public:
  // The outer state that follows a part, and how far it is. An outer state follows itself.
  struct Rest {
    int32_t state, more;
  };

  InsideDistances(const LazyNfa& nfa, const Trie& tokens, Budget& budget);

  int32_t tokens_ahead(int32_t place) const { return tokens_ahead_[place]; }
  int32_t bytes_inside(int32_t state) const { return bytes_inside_[state]; }
  // Return the number of bytes from a state of a counter's fragment, after some units, to an end with enough units.
  int32_t bytes_left(const LazyNfa::Counter& counter, int32_t inner, int32_t units) const;
  // Return whether `bytes_left` grows by the same number for each missing unit, if at least `fewest` are missing.
  bool grows_evenly(const LazyNfa::Counter& counter, int64_t fewest) const {
    const Layers& own = layers_[&counter - nfa_.counters_.data()];
    return own.growth && fewest >= static_cast<int64_t>(own.bytes.rows());
  }
  Rest rest_of(int32_t state) const;
  // Call a function with the distance from an outer state to each that follows it, and with that state, except after a
  // call or a guarded arc.
  template <class Visit>
  void each_successor(int32_t state, Visit visit) const;
  // Return the greatest distance inside a literal text, a fragment or a counter to its end.
  int32_t most_in_chain(size_t chain) const;
  int32_t most_in_fragment(int32_t fragment) const;
  int32_t most_in_counter(const LazyNfa::Counter& counter) const;

 private:
  // The layers of a counter. Once a layer exceeds the one before by the same number for all states, so do all that
  // follow.
  struct Layers {
    support::Matrix<int32_t> bytes;  // by units, then by state
    int32_t growth = 0;              // the increase of each further layer; 0 if there is no path
  };

  void find_tokens_ahead(const Trie& tokens);
  void find_bytes_inside();
  void find_layers();
  void fill_layer(const LazyNfa::Counter& counter, std::span<int32_t> layer, std::span<const int32_t> before);

  const LazyNfa& nfa_;
  Budget& budget_;
  Vector<int32_t> tokens_ahead_;  // [T]
  Vector<int32_t> bytes_inside_;  // by state of all fragments
  std::vector<Layers> layers_;    // by counter
};

template <class Visit>
void InsideDistances::each_successor(int32_t state, Visit visit) const {
  for (int32_t at = nfa_.epsilon_offsets_[state]; at < nfa_.epsilon_offsets_[state + 1]; ++at) {
    const int32_t target = nfa_.epsilon_[at];
    if (target >= 0) {
      visit(0, target);
    } else {
      const LazyNfa::Counter& counter = nfa_.counters_[-1 - target];
      visit(bytes_left(counter, counter.entry, 0), counter.target);
    }
  }
  for (const LazyNfa::Edge& edge : nfa_.edges_of(state)) {
    if (edge.is_copy) {
      const LazyNfa::Copy& copy = nfa_.copies_[edge.number];
      visit(bytes_inside(nfa_.first_of_fragment_[copy.fragment]), copy.target);
    } else {
      const LazyNfa::Chain& chain = nfa_.chains_[edge.number];
      visit(tokens_ahead(chain.text_begin), chain.target);
    }
  }
}

}  // namespace tokenfst
