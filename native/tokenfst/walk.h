// The walk over a vocabulary's trie, written once for every kind of effect.
//
// An effect describes what a prefix of a token does to every state of a byte automaton. Equal effects have one number,
// so the class of a token is the number of its effect, and the effect after one more byte is computed once. The trie is
// walked in depth-first order with the effect of the prefix:
//
//     Effects::after(effect, column)             the effect after a byte of that class, or kDead, which prunes the
//                                                subtree
//     Effects::after_character(effect, pending)  the effect after any valid rest of the pending character; kDead if all
//                                                die, kMixed if they differ
//     Effects::loops(effect)                     the bytes and characters that leave the effect unchanged
//     Effects::kHasLoops                         whether there are any; if not, the two above are never called
//
// Most of a free-text constraint is never visited. If everything that occurs below a node leaves its effect unchanged,
// the node's tokens are one run. Inside a character the same test looks ahead: if every valid rest of the character has
// one effect, that effect represents all of them. Effect 0 is the identity.
//
// Rejected: composing arc by arc (hundreds of milliseconds for free text); a table of all states by all tokens (Q x V);
// the wildcard labels of Koo, Liu & He 2024, section 2.5.1 (not exact, and not needed for speed); links between
// siblings that skip those that quoted text contains unescaped (a tenth less time for quoted text, a tenth more for the
// rest).
#pragma once

#include "tokenfst/character_steps.h"
#include "tokenfst/classes.h"
#include "tokenfst/trie.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

constexpr int32_t kIdentity = 0;

// Add the classes of a trie's tokens. `whole`: its tokens are whole characters.
template <class Effects>
void walk(const Trie& trie, bool whole, const ByteClasses& byte_class, Effects& effects, Classes& classes,
          Budget& budget) {
  struct Frame {
    const TrieNode *node, *end;  // the next sibling to look at, and the end of the siblings
    int32_t effect;              // of their parent
    Pending pending;             // the rest of a character there
  };
  const TrieNode* const nodes = trie.nodes().data();
  Vector<Frame> path(budget);
  Frame at{nodes + 1, nodes + 1 + trie.root().num_children, kIdentity, support::kWhole};
  int64_t visited = 0;
  for (;;) {
    if (at.node == at.end) {
      budget.spend(visited);
      visited = 0;
      if (path.empty()) return;
      at = path.back();
      path.pop_back();
      continue;
    }
    ++visited;
    const TrieNode& node = *at.node++;
    const int32_t effect = effects.after(at.effect, byte_class[node.byte]);
    if (effect == kDead) continue;
    if (!node.children) {
      if (node.first_rank < node.end_rank) classes.add(node.first_rank, node.end_rank, effect);
      continue;
    }
    Pending pending = support::kWhole;
    if constexpr (Effects::kHasLoops) {
      if (whole && node.byte >= 0x80) {
        pending = node.byte >= 0xC0 ? support::kAfterLead[node.byte] : support::kAfterContinuation[at.pending];
      }
      const int32_t passed = pending == support::kWhole ? effect : effects.after_character(effect, pending);
      if (passed == kDead) continue;
      if (passed >= 0 && effects.loops(passed).cover(node, whole)) {
        if (node.first_rank < node.end_rank) classes.add(node.first_rank, node.end_rank, passed);
        continue;
      }
    }
    const int32_t own_end = trie.own_end(node);
    if (node.first_rank < own_end) classes.add(node.first_rank, own_end, effect);
    path.push_back(at);
    at = {nodes + node.children, nodes + node.children + node.num_children, effect, pending};
  }
}

// Return the classes of all tokens of a vocabulary.
template <class Effects>
Classes walk(const Vocabulary& vocabulary, const ByteClasses& byte_class, Effects& effects, Budget& budget) {
  Classes classes(budget);
  walk(vocabulary.whole(), true, byte_class, effects, classes, budget);
  walk(vocabulary.partial(), false, byte_class, effects, classes, budget);
  classes.finish(vocabulary.num_ranks());
  return classes;
}

}  // namespace tokenfst
