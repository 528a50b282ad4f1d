// The walk of `relation_classes`; see `tokenfst/token_classes.h`.
#include <algorithm>

#include "support/interner.h"
#include "tokenfst/token_classes.h"

namespace tokenfst {

namespace {

struct Pair {
  int32_t source, target;
  bool operator==(const Pair&) const = default;
};

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
      const Level level = path_.back();
      path_.pop_back();
      const int32_t own_end = trie.own_end(*level.node);
      if (level.node->first_rank < own_end) keep(level, own_end);
      if (level.node->children) descend(trie, level);
    }
  }

  TokenClasses finish(int32_t num_ranks) {
    classes_.finish(num_ranks);
    TokenClasses found{{classes_.runs().begin(), classes_.runs().end()}, classes_.size(), {}};
    budget_.charge(sizeof(TokenEdge) * relations_.num_values());
    found.edges.reserve(relations_.num_values());
    for (int32_t number = kFirstClass; number < classes_.size(); ++number) {
      for (const Pair& pair : relations_[classes_.effect(number)]) {
        found.edges.push_back({pair.source, number, pair.target});
      }
    }
    return found;
  }

 private:
  // A node, and where its pairs lie.
  struct Level {
    const TrieNode* node;
    size_t begin, end;
  };

  void keep(const Level& level, int32_t own_end) {
    const auto interned = relations_.intern({pairs_.data() + level.begin, level.end - level.begin});
    classes_.add(level.node->first_rank, own_end, interned.number);
    budget_.spend(static_cast<int64_t>(level.end - level.begin));
  }

  // Finds the pairs of each child. The first child's lie on top, since it is visited first.
  void descend(const Trie& trie, const Level& level) {
    const TrieNode* const children = &trie[level.node->children];
    const int32_t num_children = level.node->num_children;
    size_t size[256] = {};
    for_each_pair(level, children, num_children, [&](int32_t child, const Pair&) { ++size[child]; });
    size_t free = level.end, place[256];
    for (int32_t child = num_children; child-- > 0;) {
      place[child] = free;
      if (size[child]) path_.push_back({children + child, free, free + size[child]});
      free += size[child];
    }
    pairs_.resize(free);
    for_each_pair(level, children, num_children,
                  [&](int32_t child, const Pair& pair) { pairs_[place[child]++] = pair; });
  }

  // Visits the pairs of each child of a node, by its own pairs and the arcs of their targets.
  template <class Visit>
  void for_each_pair(const Level& level, const TrieNode* children, int32_t num_children, Visit visit) {
    int16_t child_of[256];
    std::fill(std::begin(child_of), std::end(child_of), int16_t{-1});
    for (int32_t child = 0; child < num_children; ++child) child_of[children[child].byte] = static_cast<int16_t>(child);
    int64_t steps = 0;
    for (size_t at = level.begin; at < level.end; ++at) {
      const Pair pair = pairs_[at];
      for (const automata::ByteArc& arc : automaton_.arcs_of(pair.target)) {
        ++steps;
        if (arc.low == arc.high) {
          if (child_of[arc.low] >= 0) visit(child_of[arc.low], Pair{pair.source, arc.target});
          continue;
        }
        const auto first = std::lower_bound(children, children + num_children, arc.low,
                                            [](const TrieNode& node, int32_t low) { return node.byte < low; });
        for (const TrieNode* node = first; node < children + num_children && node->byte <= arc.high; ++node, ++steps) {
          visit(static_cast<int32_t>(node - children), Pair{pair.source, arc.target});
        }
      }
    }
    budget_.spend(steps + static_cast<int64_t>(level.end - level.begin));
  }

  const automata::ByteTables& automaton_;
  Budget& budget_;
  Vector<Pair> pairs_;  // of the nodes along the path, sources ascending within a node
  Vector<Level> path_;
  support::Interner<Pair> relations_;
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
