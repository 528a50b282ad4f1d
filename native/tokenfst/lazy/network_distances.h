// How far the ends of rules are, for the states of a network that is made deterministic on demand.
//
// Each state of the network has a row: how many tokens lead from it to each exit of its rule, at most. A literal text
// is cut into as few tokens as there are for it alone; everything else is read byte by byte. A set is as far from an
// exit as the nearest of its states, and a context says how far the end of the text is from each exit of the rule on
// top.
//
//     tokens_ahead_   how many tokens the rest of a literal text takes, from each of its places
//     bytes_inside_   how many bytes lead from each state of a piece to its end
//     to_exit_        how far each state of the network is from each exit of its rule: the least solution of the sums
//                     along arcs, and of the ways through a call by each of its exits
//     layers_         for each counter, how many bytes lead from each state of its piece to the end, by how many units
//                     are counted on the way
//
// Rejected: one number for each state, the way to the nearest exit (which exit it is may decide whether the text can
// ever end); tokens that reach beyond a literal text (they would have to be found for every way that continues it).
#pragma once

#include <cstdint>

#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/subsets.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

class NetworkDistances : public DistanceSource {
 public:
  NetworkDistances(const SubsetMachine& machine, const Vocabulary& vocabulary, Budget& budget);

  // The whole text ends by the first exit, and then with the end token.
  Context bottom() const override { return {0, 1}; }
  int32_t distance(int32_t context, int32_t set) override;
  Context above(int32_t context, int32_t called) override;

 private:
  // Of a counter. Once a layer is the one before and the same number more for all states, so are all that follow.
  struct Layers {
    support::Matrix<int32_t> bytes;  // by units, then by state
    int32_t growth = 0;              // how much more each further layer is; 0 where there is no way
  };
  // A state of the network that is as far from all exits as a state that counts, and how many bytes farther that is.
  struct Uncounted {
    int32_t state, more;
  };

  void find_tokens_ahead(const Trie& tokens);
  void find_bytes_inside();
  void find_layers();
  void fill_layer(const LazyNetwork::Counter& counter, std::span<int32_t> layer, std::span<const int32_t> before);
  void find_ways_to_exits();
  bool lower_inside_chains();
  bool lower_inside_copies();
  bool lower_outer(int32_t state);
  bool lower_by_call(int32_t state, int32_t call);
  // Lowers the row of a state to that of another one, and something more; says whether anything changed.
  bool lower(int32_t state, int32_t more, int32_t target);

  // How many bytes lead from a state of a counter's piece, after some units, to an end where enough are counted.
  int32_t bytes_left(const LazyNetwork::Counter& counter, int32_t inner, int32_t units) const;
  Uncounted uncounted(int32_t state) const;

  const SubsetMachine& machine_;
  const LazyNetwork& network_;
  Budget& budget_;
  Vector<int32_t> tokens_ahead_;            // [T]
  Vector<int32_t> bytes_inside_;            // by state of all pieces
  std::vector<Layers> layers_;              // by counter
  support::Matrix<int32_t> to_exit_;        // [N, E], E the most exits that a rule has
  DistanceVectors vectors_;                 // [E] each, from the exits of the rule on top
  std::vector<Vector<int32_t>> distances_;  // by context and set; kUnseen where it has not been asked for
  Vector<int32_t> vector_;                  // scratch
};

}  // namespace tokenfst
