// The walk of `relation_classes`; see `tokenfst/token_classes.h`.
#include <algorithm>

#include "support/interner.h"
#include "tokenfst/token_classes.h"

namespace tokenfst {

namespace {

using automata::Edge;

class RelationWalk {
 public:
  RelationWalk(const automata::ByteTables& automaton, Budget& budget)
      : automaton_(automaton),
        budget_(budget),
        pairs_(budget),
        path_(budget),
        relations_(budget),
        classes_(budget) {}

  void walk(const Trie& trie) {
    pairs_.clear();
    for (int32_t state = 0; state < automaton_.num_states(); ++state) pairs_.push_back({state, state});
    path_.push_back({&trie.root(), 0, pairs_.size()});
    while (!path_.empty()) {
      const Frame frame = path_.back();
      path_.pop_back();
      const int32_t own_end = trie.own_end(*frame.node);
      if (frame.node->first_rank < own_end) keep(frame, own_end);
      if (frame.node->children) descend(trie, frame);
    }
  }

  TokenClasses finish(int32_t num_ranks) {
    classes_.finish(num_ranks);
    const auto pairs = [&](int32_t relation) { return relations_[relation]; };
    return {{classes_.runs().begin(), classes_.runs().end()}, classes_.size(), token_edges(classes_, pairs, budget_)};
  }

 private:
  // A node, and where its pairs lie.
  struct Frame {
    const TrieNode* node;
    size_t begin, end;
  };

  void keep(const Frame& frame, int32_t own_end) {
    const auto interned = relations_.intern({pairs_.data() + frame.begin, frame.end - frame.begin});
    classes_.add(frame.node->first_rank, own_end, interned.number);
    budget_.spend(static_cast<int64_t>(frame.end - frame.begin));
  }

  // Find the pairs of each child. The first child's lie on top, since it is visited first.
  void descend(const Trie& trie, const Frame& frame) {
    const TrieNode* const children = &trie[frame.node->children];
    const int32_t num_children = frame.node->num_children;
    size_t size[256] = {};
    for_each_pair(frame, children, num_children, [&](int32_t child, const Edge&) { ++size[child]; });
    size_t free = frame.end, place[256];
    for (int32_t child = num_children; child-- > 0;) {
      place[child] = free;
      if (size[child]) path_.push_back({children + child, free, free + size[child]});
      free += size[child];
    }
    pairs_.resize(free);
    for_each_pair(frame, children, num_children,
                  [&](int32_t child, const Edge& pair) { pairs_[place[child]++] = pair; });
  }

  // Visit the pairs of each child of a node, by its own pairs and the arcs of their targets.
  template <class Visit>
  void for_each_pair(const Frame& frame, const TrieNode* children, int32_t num_children, Visit visit) {
    int16_t child_of[256];
    std::fill(std::begin(child_of), std::end(child_of), int16_t{-1});
    for (int32_t child = 0; child < num_children; ++child) child_of[children[child].byte] = static_cast<int16_t>(child);
    int64_t steps = 0;
    for (size_t at = frame.begin; at < frame.end; ++at) {
      const Edge pair = pairs_[at];
      for (const automata::ByteArc& arc : automaton_.arcs_of(pair.target)) {
        ++steps;
        if (arc.low == arc.high) {
          if (child_of[arc.low] >= 0) visit(child_of[arc.low], Edge{pair.source, arc.target});
          continue;
        }
        const auto first = std::lower_bound(children, children + num_children, arc.low,
                                            [](const TrieNode& node, int32_t low) { return node.byte < low; });
        for (const TrieNode* node = first; node < children + num_children && node->byte <= arc.high; ++node, ++steps) {
          visit(static_cast<int32_t>(node - children), Edge{pair.source, arc.target});
        }
      }
    }
    budget_.spend(steps + static_cast<int64_t>(frame.end - frame.begin));
  }

  const automata::ByteTables& automaton_;
  Budget& budget_;
  Vector<Edge> pairs_;  // of the nodes along the path, sources ascending within a node
  Vector<Frame> path_;
  support::Interner<Edge> relations_;
  Classes classes_;
};

}  // namespace

TokenClasses relation_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  RelationWalk walk(automaton, budget);
  walk.walk(vocabulary.whole());
  walk.walk(vocabulary.partial());
  return walk.finish(vocabulary.num_ranks());
}

}  // namespace tokenfst
