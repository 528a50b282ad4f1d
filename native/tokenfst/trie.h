// Trie: the tokens of a vocabulary sorted by their bytes, laid out so that a walk reads siblings one after the other.
//
//     rank    position of a token in sorted order; tokens with equal bytes are neighbours
//     node    a prefix of some token; the tokens below it are a run of ranks, and its own tokens are the first of them
//
// A walk visits many nodes without entering their subtrees, and fetching them is most of its work, so siblings are
// adjacent and a node is half a cache line. (With nodes in depth-first order, each sibling after a whole subtree, the
// walk took half as long again.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/budget.h"

namespace tokenfst {

using support::Budget;
using support::Vector;

struct TrieNode {
  uint32_t ascii_below[4];  // the ASCII bytes that occur below the node (not its own byte)
  int32_t children;         // the first of its children, which are adjacent and ascending; 0 for none
  int32_t first_rank;       // of its subtree: its own tokens are the ranks from here up to its first child's
  int32_t end_rank;         // one past the last rank of its subtree
  uint8_t byte;
  uint8_t high_below;  // the kinds of the characters that occur below (`support::Kind`), kOther for any byte of such
  uint16_t num_children : 9;
  uint16_t num_own : 7;  // its own tokens; kManyOwn if there are as many or more

  static constexpr int32_t kManyOwn = 127;
};
static_assert(sizeof(TrieNode) == 32);

class Trie {
 public:
  // The trie of sorted, non-empty tokens, token i being data[offsets[i]] up to data[offsets[i + 1]]; the first one has
  // rank `first_rank`.
  Trie(std::span<const uint8_t> data, std::span<const int64_t> offsets, int32_t first_rank);

  const TrieNode& operator[](int32_t node) const { return nodes_[node]; }
  const TrieNode& root() const { return nodes_[0]; }
  std::span<const TrieNode> nodes() const { return nodes_; }
  // Return the byte of each node, in one place: most siblings' bytes lead nowhere, so that the nodes need not be
  // fetched.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Return one past the last of a node's own ranks. Their number is kept in the node, since looking at its first child
  // took a fifth of a walk that visits most nodes.
  int32_t own_end(const TrieNode& node) const {
    if (node.num_own < TrieNode::kManyOwn) return node.first_rank + node.num_own;
    return node.children ? nodes_[node.children].first_rank : node.end_rank;
  }
  // Return the number of bytes of the longest token below a node after its prefix, at most 255.
  int32_t deepest(const TrieNode& node) const { return deepest_[&node - nodes_.data()]; }
  // Return the child of a node with a byte, 0 for none.
  int32_t child(const TrieNode& node, uint8_t byte) const;

 private:
  std::vector<int32_t> make_nodes(std::span<const uint8_t> data, std::span<const int64_t> offsets);
  void add_children(int32_t node, int32_t depth, std::span<const uint8_t> data, std::span<const int64_t> offsets);
  void find_below(std::span<const int32_t> parent);

  std::vector<TrieNode> nodes_;   // children come after their parents
  std::vector<uint8_t> bytes_;    // by node
  std::vector<uint8_t> deepest_;  // by node
};

}  // namespace tokenfst
