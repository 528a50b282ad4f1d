#include "tokenfst/token_costs.h"

#include <algorithm>

namespace tokenfst {

namespace {

using automata::ByteArc;
using automata::Cost;

// The sequences of bytes that are characters of more than one byte, as ranges (The Unicode Standard, table 3-7).
struct Sequence {
  int32_t count;
  std::array<uint8_t, 2> ranges[4];
};
constexpr Sequence kSequences[] = {
    {2, {{0xC2, 0xDF}, {0x80, 0xBF}}},
    {3, {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}}},
    {3, {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {3, {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}}},
    {3, {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {4, {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {4, {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {4, {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}}},
};

}  // namespace

TokenCosts::TokenCosts(std::shared_ptr<const Vocabulary> vocabulary, const automata::WeightedTables& tables)
    : vocabulary_(std::move(vocabulary)),
      tables_(tables),
      loops_of_(tables.num_states(), -1) {
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    const bool loops = std::ranges::any_of(tables.arcs_of(state),
                                           [&](const ByteArc& arc) { return arc.target == state && arc.low < 0x80; });
    if (!loops) continue;
    loops_of_[state] = static_cast<int32_t>(loops_.size());
    loops_.push_back(free_loops(state));
  }
}

TokenCosts::FreeLoops TokenCosts::free_loops(int32_t state) const {
  FreeLoops found;
  for (int32_t at = tables_.offsets[state]; at < tables_.offsets[state + 1]; ++at) {
    const ByteArc& arc = tables_.arcs[at];
    if (arc.target != state || tables_.cost[at] != 0) continue;
    for (int32_t byte = arc.low; byte <= std::min(arc.high, 0x7F); ++byte) found.ascii[byte / 32] |= 1u << byte % 32;
  }
  found.characters = std::ranges::all_of(
      kSequences, [&](const Sequence& each) { return returns(state, state, each.ranges, each.count); });
  return found;
}

// Return whether every sequence of bytes in some ranges leads from a state back to `home`, at no cost.
bool TokenCosts::returns(int32_t state, int32_t home, const std::array<uint8_t, 2>* ranges, int32_t count) const {
  if (count == 0) return state == home;
  for (int32_t byte = (*ranges)[0]; byte <= (*ranges)[1];) {
    const int32_t arc = tables_.find(state, byte);
    if (arc < 0 || tables_.cost[arc] != 0 || !returns(tables_.arcs[arc].target, home, ranges + 1, count - 1)) {
      return false;
    }
    byte = tables_.arcs[arc].high + 1;
  }
  return true;
}

bool TokenCosts::is_free_below(int32_t state, const TrieNode& node, bool whole) const {
  if (loops_of_[state] < 0) return false;
  const FreeLoops& loops = loops_[loops_of_[state]];
  // Inside a character the state is another one. So what is below this node begins with a whole character.
  if (node.high_below && !(whole && loops.characters)) return false;
  for (int32_t word = 0; word < 4; ++word) {
    if (node.ascii_below[word] & ~loops.ascii[word]) return false;
  }
  return true;
}

void TokenCosts::add(int32_t first_rank, int32_t end_rank, Cost cost, std::vector<TokenCost>& found) const {
  if (cost == 0) return;
  for (int32_t rank = first_rank; rank < end_rank; ++rank) found.push_back({vocabulary_->token_of_rank()[rank], cost});
}

void TokenCosts::walk(const Trie& trie, bool whole, int32_t state, std::vector<TokenCost>& found,
                      support::Budget& budget) const {
  struct Frame {
    const TrieNode* node;
    int32_t state;
    Cost cost;
  };
  std::vector<Frame> stack{{&trie.root(), state, 0}};
  while (!stack.empty()) {
    const Frame at = stack.back();
    stack.pop_back();
    if (is_free_below(at.state, *at.node, whole)) {
      add(at.node->first_rank, at.node->end_rank, at.cost, found);
      continue;
    }
    add(at.node->first_rank, trie.own_end(*at.node), at.cost, found);
    if (!at.node->children) continue;
    const TrieNode* const children = &trie[at.node->children];
    budget.spend(2 * at.node->num_children);
    // Both children and arcs ascend.
    const auto arcs = tables_.arcs_of(at.state);
    size_t arc = 0;
    for (const TrieNode* child = children; child != children + at.node->num_children; ++child) {
      while (arc < arcs.size() && arcs[arc].high < child->byte) ++arc;
      if (arc == arcs.size()) break;
      if (arcs[arc].low > child->byte) continue;
      const auto number = static_cast<size_t>(tables_.offsets[at.state]) + arc;
      stack.push_back({child, arcs[arc].target, automata::sum(at.cost, tables_.cost[number])});
    }
  }
}

void TokenCosts::add_from(int32_t state, std::vector<TokenCost>& found, support::Budget& budget) const {
  const size_t before = found.size();
  walk(vocabulary_->whole(), true, state, found, budget);
  walk(vocabulary_->partial(), false, state, found, budget);
  budget.charge(sizeof(TokenCost) * (found.size() - before));
}

}  // namespace tokenfst
