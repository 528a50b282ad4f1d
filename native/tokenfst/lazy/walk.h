// The walk over a trie with the configurations of a machine, written once for all walks that make masks.
//
//     Walker::Places                            where a prefix leads: one configuration, or two that are compared
//     walker.skipped(places, bytes, is_first)   how many bytes to skip, up to the first that may lead to wanted tokens;
//                                               `is_first`: they are first bytes of tokens
//     walker.step(places, byte, reached)        the places after one more byte; false if no token below is wanted
//     walker.covers(from, reached, node)        whether all tokens below a node behave as its own prefix does
//     walker.collects_below(reached, node)      whether the walker has collected all tokens below a node by itself
//     walker.found(first, end, reached)         reports the tokens with these ranks
//
// If a state loops on every byte that occurs below a node, all tokens there are allowed, and the walk does not enter
// them. Cells that a walk pushes come after the permanent ones, and are free again when the walk backtracks.
#pragma once

#include "support/prefetch.h"
#include "tokenfst/lazy/characters.h"
#include "tokenfst/lazy/machine.h"
#include "tokenfst/trie.h"

namespace tokenfst {

// Most walks go no deeper.
constexpr size_t kUsualDepth = 16;

// Return how many bytes come before the first that is wanted.
template <class Wanted>
int32_t num_before(std::span<const uint8_t> bytes, Wanted wanted) {
  size_t at = 0;
  while (at < bytes.size() && !wanted(bytes[at])) ++at;
  return static_cast<int32_t>(at);
}

// Walk over the nodes below a node of a trie.
template <class Walker>
void walk_below(const Trie& trie, const TrieNode& top, const typename Walker::Places& start, Walker& walker,
                Budget& budget) {
  struct Level {
    int32_t node, end;  // the next sibling to look at, and the end of the siblings
    typename Walker::Places places;
  };
  const TrieNode* const nodes = trie.nodes().data();
  const uint8_t* const bytes = trie.bytes().data();
  const auto children = [&](const TrieNode& node, const typename Walker::Places& places) {
    return Level{node.children, node.children + node.num_children, places};
  };
  Vector<Level> path(budget);
  path.reserve(kUsualDepth);
  Level at = children(top, start);
  int64_t visited = 0;
  for (;;) {
    const int32_t skipped = walker.skipped(at.places, {bytes + at.node, bytes + at.end}, path.empty());
    at.node += skipped, visited += skipped;
    if (at.node == at.end) {
      budget.spend(visited);
      visited = 0;
      if (path.empty()) return;
      at = path.back();
      path.pop_back();
      continue;
    }
    visited += 8;
    const TrieNode& node = nodes[at.node++];
    support::prefetch(nodes + node.children);
    support::prefetch(bytes + node.children);
    typename Walker::Places reached;
    if (!walker.step(at.places, node.byte, reached)) continue;
    if (!node.children || walker.covers(at.places, reached, node)) {
      if (node.first_rank < node.end_rank) walker.found(node.first_rank, node.end_rank, reached);
      continue;
    }
    const int32_t own_end = trie.own_end(node);
    if (node.first_rank < own_end) walker.found(node.first_rank, own_end, reached);
    if (walker.collects_below(reached, node)) continue;
    path.push_back(at);
    at = children(node, reached);
  }
}

template <class Walker>
void walk_places(const Trie& trie, const typename Walker::Places& start, Walker& walker, Budget& budget) {
  walk_below(trie, trie.root(), start, walker, budget);
}

// Add tokens to those collected. Usually they are few, and adding few is faster one by one than as a range.
inline void collect(std::span<const int32_t> own, Vector<int32_t>& tokens) {
  constexpr size_t kFew = 8;
  if (own.size() > kFew) {
    tokens.insert(tokens.end(), own.begin(), own.end());
  } else {
    for (const int32_t token : own) tokens.push_back(token);
  }
}

// The data that walks of one automaton share.
struct WalkContext {
  Machine& machine;
  Characters& characters;
  Stacks& stacks;
  Budget& budget;
};

// The tokens that are walked over. `whole`: whether they are whole characters.
struct WalkedTokens {
  const Trie& trie;
  std::span<const int32_t> token_of_rank;
  bool whole;
};

// Return whether a state is known to loop on everything that occurs below a node. Its loops are found when it is first
// seen to loop.
inline bool loops_below(WalkContext& context, const Place& from, const Place& reached, const TrieNode& node, bool whole,
                        Loops StateLoops::* part = &StateLoops::all) {
  const StateLoops* loops = context.characters.known_loops(reached.state);
  if (!loops && node.byte < 0x80 && reached.state == from.state && reached.top == from.top) {
    loops = &context.characters.loops(from.state);
  }
  return loops && (loops->*part).cover(node, whole && node.byte < 0x80);
}

// Collects the tokens that only one of two states with the same stack allows, except those that begin with a skipped
// byte. Where both states have led to the same configuration, nothing below differs.
class DifferingWalk {
 public:
  struct Places {
    Place one, other;
  };

  DifferingWalk(WalkContext& context, const WalkedTokens& walked, const support::ByteSet& skipped, Looked& looked,
                Vector<int32_t>& tokens)
      : context_(context),
        byte_class_(context.machine.byte_class()),
        walked_(walked),
        skipped_(skipped),
        looked_(looked),
        tokens_(tokens) {}

  int32_t skipped(const Places& from, std::span<const uint8_t> bytes, bool is_first) const {
    if (from.one.state == kDead || from.other.state == kDead || from.one.top != from.other.top) return 0;
    const auto differ = context_.machine.differing(from.one.state, from.other.state);
    if (!is_first) return num_before(bytes, differ);
    return num_before(bytes, [&](uint8_t byte) { return !skipped_[byte] && differ(byte); });
  }
  bool step(const Places& from, uint8_t byte, Places& reached) {
    const int32_t column = byte_class_[byte];
    reached = from;
    if (from.one.state != kDead) reached.one = context_.machine.step(from.one, column, context_.stacks, looked_);
    // Cells of one place are written after those of the other.
    reached.other.free = reached.one.free;
    if (from.other.state != kDead)
      reached.other = context_.machine.step(reached.other, column, context_.stacks, looked_);
    reached.one.free = reached.other.free;
    return reached.one.state != reached.other.state ||
           (reached.one.state != kDead && reached.one.top != reached.other.top);
  }
  bool covers(const Places& from, const Places& reached, const TrieNode& node) {
    return skips(from.one, reached.one, node) && skips(from.other, reached.other, node);
  }
  bool collects_below(const Places&, const TrieNode&) { return false; }
  void found(int32_t first, int32_t end, const Places& reached) {
    if ((reached.one.state == kDead) == (reached.other.state == kDead)) return;
    collect(walked_.token_of_rank.subspan(first, end - first), tokens_);
  }

 private:
  // Return whether all tokens below a node are known to be allowed, or none. Where the node begins a character beyond
  // ASCII, it is enough that the state before it loops on what is below.
  bool skips(const Place& from, const Place& reached, const TrieNode& node) {
    if (reached.state == kDead) return true;
    const bool begins = walked_.whole && node.byte >= support::kFirstLead;
    const StateLoops* loops = context_.characters.known_loops(begins ? from.state : reached.state);
    return (loops && loops->all.cover(node, begins || (walked_.whole && node.byte < 0x80))) ||
           context_.characters.frees(reached.state, node);
  }

  WalkContext& context_;
  const ByteClasses& byte_class_;
  const WalkedTokens walked_;
  const support::ByteSet skipped_;
  Looked& looked_;
  Vector<int32_t>& tokens_;
};

// Return how many bytes come before the first one that leads on from a configuration; of first bytes, none that begins
// a skipped character.
template <class Machine>
int32_t num_before_leading(Machine& machine, const Place& from, std::span<const uint8_t> bytes,
                           const CharacterSet& skipped, bool is_first) {
  const auto leads = machine.leading(from.state);
  if (!is_first) return num_before(bytes, leads);
  return num_before(bytes, [&](uint8_t byte) { return !skipped.begins(byte) && leads(byte); });
}

// Collects the tokens that a configuration allows, except those that begin with a skipped character. If `quoted` is not
// null, tokens below a node at which quoted text begins are collected by what was prepared for the vocabulary
// (`Text::below`).
class AllowedWalk {
 public:
  using Places = Place;

  AllowedWalk(WalkContext& context, const WalkedTokens& walked, const CharacterSet& skipped, const Text* quoted,
              Looked& looked, Vector<int32_t>& tokens)
      : context_(context),
        byte_class_(context.machine.byte_class()),
        walked_(walked),
        skipped_(skipped),
        quoted_(quoted),
        looked_(looked),
        tokens_(tokens) {}

  int32_t skipped(const Place& from, std::span<const uint8_t> bytes, bool is_first) const {
    return num_before_leading(context_.machine, from, bytes, skipped_, is_first);
  }
  bool step(const Place& from, uint8_t byte, Place& reached) {
    reached = context_.machine.step(from, byte_class_[byte], context_.stacks, looked_);
    return reached.state != kDead;
  }
  bool covers(const Place& from, const Place& reached, const TrieNode& node) {
    return loops_below(context_, from, reached, node, walked_.whole) || context_.characters.frees(reached.state, node);
  }
  bool collects_below(const Place& reached, const TrieNode& node) {
    const TextBelow* const below = quoted_ ? quoted_->below(node) : nullptr;
    const int32_t loop = below ? context_.characters.text_loop(reached.state, quoted_->set()) : kDead;
    if (loop == kDead) return false;
    collect(below->over, tokens_);
    const Place looping{loop, reached.top, reached.free};
    const Trie& rests = below->rests.trie;
    AllowedWalk after_text(context_, {rests, below->rests.token_of_rank, false}, {}, nullptr, looked_, tokens_);
    walk_places(rests, looping, after_text, context_.budget);
    if (loop == reached.state) return true;
    DifferingWalk differing(context_, walked_, {}, looked_, tokens_);
    walk_below(walked_.trie, node, {reached, looping}, differing, context_.budget);
    return true;
  }
  void found(int32_t first, int32_t end, const Place&) {
    collect(walked_.token_of_rank.subspan(first, end - first), tokens_);
  }

 private:
  WalkContext& context_;
  const ByteClasses& byte_class_;
  const WalkedTokens walked_;
  const CharacterSet skipped_;
  const Text* quoted_;
  Looked& looked_;
  Vector<int32_t>& tokens_;
};

}  // namespace tokenfst
