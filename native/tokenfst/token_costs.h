// TokenCosts: what each token costs in a state of a weighted automaton over bytes.
//
// A token costs what the arcs along its bytes cost. Since these are pushed to the front, most tokens of free text cost
// nothing, and only the others are returned. A walk over the vocabulary's tries finds them. If a state loops on bytes
// or characters at no cost, as free text does, all tokens over these cost what has been paid before, and are not looked
// at one by one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/weighted/weighted_tables.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

struct TokenCost {
  int32_t token;
  automata::Cost cost;
};

class TokenCosts {
 public:
  TokenCosts(std::shared_ptr<const Vocabulary> vocabulary, const automata::WeightedTables& tables);

  int32_t num_states() const { return tables_.num_states(); }
  // Add the tokens that do not cost 0 in a state, in no order. Tokens that it does not allow, or that end a sequence,
  // are left out.
  void add_from(int32_t state, std::vector<TokenCost>& found, support::Budget& budget) const;

 private:
  // What a state loops on at no cost.
  struct FreeLoops {
    std::array<uint32_t, 4> ascii{};
    bool characters = false;  // every character of several bytes
  };
  FreeLoops free_loops(int32_t state) const;
  bool returns(int32_t state, int32_t home, const std::array<uint8_t, 2>* ranges, int32_t count) const;
  bool is_free_below(int32_t state, const TrieNode& node, bool whole) const;
  void walk(const Trie& trie, bool whole, int32_t state, std::vector<TokenCost>& found, support::Budget& budget) const;
  void add(int32_t first_rank, int32_t end_rank, automata::Cost cost, std::vector<TokenCost>& found) const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const automata::WeightedTables& tables_;
  std::vector<int32_t> loops_of_;  // of each state in `loops_`, -1 for none
  std::vector<FreeLoops> loops_;
};

}  // namespace tokenfst
