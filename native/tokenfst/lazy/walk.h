// The walk over a trie with the configurations of a machine, written once for everything that masks are made of.
//
//     Walker::Places                            where a prefix has led: one configuration, or two that are compared
//     walker.step(places, byte, reached)        the places after one more byte; false if nothing below is wanted
//     walker.covers(from, reached, node)        whether all tokens below a node behave as its own prefix does
//     walker.found(first, end, reached)         reports the tokens with these ranks
//
// The nodes below a node are not visited if the state loops on every byte that occurs there: all of its tokens are
// allowed. Cells that a walk pushes are written after the permanent ones, and are free again when the walk backtracks.
#pragma once

#include "tokenfst/lazy/characters.h"
#include "tokenfst/lazy/machine.h"
#include "tokenfst/trie.h"

namespace tokenfst {

// Most walks go no deeper.
constexpr size_t kUsualDepth = 16;

template <class Walker>
void walk_places(const Trie& trie, const typename Walker::Places& start, Walker& walker, Budget& budget) {
  struct Level {
    const TrieNode *node, *end;  // the next sibling to look at, and the end of the siblings
    typename Walker::Places places;
  };
  const TrieNode* const nodes = trie.nodes().data();
  const auto children = [&](const TrieNode& node, const typename Walker::Places& places) {
    return Level{nodes + node.children, nodes + node.children + node.num_children, places};
  };
  Vector<Level> path(budget);
  path.reserve(kUsualDepth);
  Level at = children(trie.root(), start);
  int64_t visited = 0;
  for (;;) {
    if (at.node == at.end) {
      budget.spend(4 * visited);
      visited = 0;
      if (path.empty()) return;
      at = path.back();
      path.pop_back();
      continue;
    }
    ++visited;
    const TrieNode& node = *at.node++;
    typename Walker::Places reached;
    if (!walker.step(at.places, node.byte, path.empty(), reached)) continue;
    if (!node.children || walker.covers(at.places, reached, node)) {
      if (node.first_rank < node.end_rank) walker.found(node.first_rank, node.end_rank, reached);
      continue;
    }
    const int32_t own_end = nodes[node.children].first_rank;
    if (node.first_rank < own_end) walker.found(node.first_rank, own_end, reached);
    path.push_back(at);
    at = children(node, reached);
  }
}

// The data that walks of one automaton share.
struct WalkContext {
  Machine& machine;
  Characters& characters;
  Stacks& stacks;
};

// Returns whether a state loops on everything that occurs below a node. Its loops are found when it is first seen to
// loop.
inline bool loops_below(WalkContext& context, const Place& from, const Place& reached, const TrieNode& node,
                        bool whole) {
  if (node.byte < 0x80 && reached.state == from.state && reached.top == from.top) context.characters.loops(from.state);
  const Loops* loops = context.characters.known_loops(reached.state);
  return loops && loops->cover(node, whole && node.byte < 0x80);
}

// Collects the tokens that a configuration allows, except those that begin with a skipped character.
class AllowedWalk {
 public:
  using Places = Place;

  AllowedWalk(WalkContext& context, bool whole, std::span<const int32_t> token_of_rank, const CharacterSet& skipped,
              Looked& looked, Vector<int32_t>& tokens)
      : context_(context),
        whole_(whole),
        token_of_rank_(token_of_rank),
        skipped_(skipped),
        looked_(looked),
        tokens_(tokens) {}

  bool step(const Place& from, uint8_t byte, bool is_first, Place& reached) {
    if (is_first && skipped_.begins(byte)) return false;
    reached = context_.machine.step(from, context_.machine.byte_class()[byte], context_.stacks, looked_);
    return reached.state != kDead;
  }
  bool covers(const Place& from, const Place& reached, const TrieNode& node) {
    return loops_below(context_, from, reached, node, whole_) || context_.characters.frees(reached.state, node);
  }
  void found(int32_t first, int32_t end, const Place&) {
    tokens_.insert(tokens_.end(), token_of_rank_.begin() + first, token_of_rank_.begin() + end);
  }

 private:
  WalkContext& context_;
  const bool whole_;
  const std::span<const int32_t> token_of_rank_;
  const CharacterSet& skipped_;
  Looked& looked_;
  Vector<int32_t>& tokens_;
};

// Collects the tokens that only one of two states with the same stack allows. Where both have reached the same
// configuration, nothing below differs.
class DifferingWalk {
 public:
  struct Places {
    Place one, other;
  };

  DifferingWalk(WalkContext& context, bool whole, std::span<const int32_t> token_of_rank, Looked& looked,
                Vector<int32_t>& tokens)
      : context_(context),
        whole_(whole),
        token_of_rank_(token_of_rank),
        looked_(looked),
        tokens_(tokens) {}

  bool step(const Places& from, uint8_t byte, bool, Places& reached) {
    const int32_t column = context_.machine.byte_class()[byte];
    const bool both_read = from.one.state != kDead && from.other.state != kDead;
    if (both_read && from.one.top == from.other.top &&
        context_.machine.steps_alike(from.one.state, from.other.state, column)) {
      return false;
    }
    reached = from;
    if (from.one.state != kDead) reached.one = context_.machine.step(from.one, column, context_.stacks, looked_);
    // The cells of one are written after those of the other.
    reached.other.free = reached.one.free;
    if (from.other.state != kDead)
      reached.other = context_.machine.step(reached.other, column, context_.stacks, looked_);
    reached.one.free = reached.other.free;
    return reached.one.state != reached.other.state ||
           (reached.one.state != kDead && reached.one.top != reached.other.top);
  }
  bool covers(const Places&, const Places& reached, const TrieNode& node) {
    return skips(reached.one.state, node) && skips(reached.other.state, node);
  }
  void found(int32_t first, int32_t end, const Places& reached) {
    if ((reached.one.state == kDead) == (reached.other.state == kDead)) return;
    tokens_.insert(tokens_.end(), token_of_rank_.begin() + first, token_of_rank_.begin() + end);
  }

 private:
  bool skips(int32_t state, const TrieNode& node) {
    if (state == kDead) return true;
    const Loops* loops = context_.characters.known_loops(state);
    return (loops && loops->cover(node, whole_ && node.byte < 0x80)) || context_.characters.frees(state, node);
  }

  WalkContext& context_;
  const bool whole_;
  const std::span<const int32_t> token_of_rank_;
  Looked& looked_;
  Vector<int32_t>& tokens_;
};

}  // namespace tokenfst
