#include "tokenfst/trie.h"

#include <algorithm>

#include "support/bits.h"
#include "support/utf8.h"

namespace tokenfst {

namespace {

// Return the number of different prefixes of sorted tokens, including the empty one.
size_t num_prefixes(std::span<const uint8_t> data, std::span<const int64_t> offsets) {
  size_t count = 1;
  std::span<const uint8_t> before;
  for (size_t token = 0; token + 1 < offsets.size(); ++token) {
    const auto own = data.subspan(offsets[token], offsets[token + 1] - offsets[token]);
    const auto differ = std::ranges::mismatch(before, own);
    count += own.end() - differ.in2;
    before = own;
  }
  return count;
}

}  // namespace

Trie::Trie(std::span<const uint8_t> data, std::span<const int64_t> offsets, int32_t first_rank) {
  find_below(make_nodes(data, offsets));
  bytes_.resize(nodes_.size());
  std::ranges::transform(nodes_, bytes_.begin(), &TrieNode::byte);
  for (TrieNode& node : nodes_) node.first_rank += first_rank, node.end_rank += first_rank;
}

// Make the nodes, with ranks from 0; return the parent of each.
std::vector<int32_t> Trie::make_nodes(std::span<const uint8_t> data, std::span<const int64_t> offsets) {
  nodes_.reserve(num_prefixes(data, offsets));
  nodes_.push_back({});
  nodes_[0].end_rank = static_cast<int32_t>(offsets.size()) - 1;
  std::vector<int32_t> parent{0}, depth{0}, open{0};
  while (!open.empty()) {
    const int32_t node = open.back(), at = depth[node];
    open.pop_back();
    const auto first = static_cast<int32_t>(nodes_.size());
    add_children(node, at, data, offsets);
    const auto last = static_cast<int32_t>(nodes_.size());
    parent.resize(last, node);
    depth.resize(last, at + 1);
    // The first child is next, so that the blocks of a subtree are adjacent as well.
    for (int32_t child = last; child-- > first;) open.push_back(child);
  }
  return parent;
}

// Add the children of a node at some depth, and count its own tokens.
void Trie::add_children(int32_t node, int32_t depth, std::span<const uint8_t> data, std::span<const int64_t> offsets) {
  int32_t rank = nodes_[node].first_rank;
  const int32_t end = nodes_[node].end_rank;
  while (rank < end && offsets[rank + 1] - offsets[rank] == depth) ++rank;
  nodes_[node].num_own = std::min(rank - nodes_[node].first_rank, TrieNode::kManyOwn) & TrieNode::kManyOwn;
  const auto first = static_cast<int32_t>(nodes_.size());
  while (rank < end) {
    TrieNode child{};
    child.byte = data[offsets[rank] + depth];
    child.first_rank = rank;
    while (rank < end && data[offsets[rank] + depth] == child.byte) ++rank;
    child.end_rank = rank;
    nodes_.push_back(child);
  }
  const auto last = static_cast<int32_t>(nodes_.size());
  nodes_[node].children = last > first ? first : 0;
  nodes_[node].num_children = static_cast<uint16_t>(last - first) & 0x1FF;
}

// Find what occurs below each node, and how deep.
void Trie::find_below(std::span<const int32_t> parent) {
  // What a node's byte adds: the kind of the character that it completes, kOther within one.
  const auto kind = [&](size_t node) -> uint32_t {
    const uint8_t last = nodes_[node].byte, before = nodes_[parent[node]].byte;
    if (last < 0x80) return 0;
    if (before == 0xC2) return support::kOther | support::kind_of(before, last, 0);
    return support::kOther | support::kind_of(nodes_[parent[parent[node]]].byte, before, last);
  };
  deepest_.resize(nodes_.size());
  for (size_t node = nodes_.size(); node-- > 1;) {
    TrieNode& above = nodes_[parent[node]];
    deepest_[parent[node]] = static_cast<uint8_t>(std::clamp<int>(deepest_[node] + 1, deepest_[parent[node]], 255));
    const TrieNode& own = nodes_[node];
    for (int word = 0; word < 4; ++word) above.ascii_below[word] |= own.ascii_below[word];
    above.high_below |= static_cast<uint8_t>(own.high_below | kind(node));
    if (own.byte < 0x80) support::set_bit(above.ascii_below, own.byte);
  }
}

int32_t Trie::child(const TrieNode& node, uint8_t byte) const {
  const auto children = std::span(nodes_).subspan(node.children, node.num_children);
  const auto found = std::ranges::lower_bound(children, byte, {}, &TrieNode::byte);
  return found != children.end() && found->byte == byte ? static_cast<int32_t>(found - children.begin()) + node.children
                                                        : 0;
}

}  // namespace tokenfst
