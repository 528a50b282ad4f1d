#include "tokenfst/lazy/reach.h"

#include <algorithm>

#include "tokenfst/lazy/chains.h"

namespace tokenfst {

namespace {

// Tells a walk where it need not enter a trie.
class Covering {
 public:
  Covering(WalkContext& context, const Trie& trie, bool whole, AlikeStates& alike)
      : context_(context),
        trie_(trie),
        whole_(whole),
        counts_(context.machine.counts()),
        alike_(alike) {}

  // Return whether nothing below a node changes the distance.
  bool covers(const Place& from, const Place& reached, const TrieNode& node) {
    if (loops_below(context_, from, reached, node, whole_, &StateLoops::returning)) return true;
    if (!counts_) return false;
    const Machine::Alike alike = alike_[reached.state];
    return alike.longest && trie_.deepest(node) <= alike.longest &&
           context_.characters.loops(alike.state).returning.cover(node, whole_ && node.byte < 0x80);
  }

 private:
  WalkContext& context_;
  const Trie& trie_;
  const bool whole_, counts_;
  AlikeStates& alike_;
};

// Visits the configurations after all tokens that a configuration allows, except those that begin with a skipped
// character.
template <class Found>
class ReachWalk {
 public:
  using Places = Place;

  ReachWalk(WalkContext& context, StackDistances& distances, const CharacterSet& skipped, Covering covering,
            Found found)
      : context_(context),
        distances_(distances),
        skipped_(skipped),
        covering_(covering),
        found_(found) {}

  int32_t skipped(const Place& from, std::span<const uint8_t> bytes, bool is_first) const {
    return num_before_leading(context_.machine, from, bytes, skipped_, is_first);
  }
  bool step(const Place& from, uint8_t byte, Place& reached) {
    Looked looked{};
    reached = context_.machine.step(from, context_.machine.byte_class()[byte], context_.stacks, looked);
    if (reached.state == kDead) return false;
    distances_.add(from.free, reached.free);
    return true;
  }
  bool covers(const Place& from, const Place& reached, const TrieNode& node) {
    return covering_.covers(from, reached, node);
  }
  bool collects_below(const Place&, const TrieNode&) { return false; }
  void found(int32_t first, int32_t end, const Place& reached) {
    found_(first, end, distances_.distance(reached.state, reached.top));
  }

 private:
  WalkContext& context_;
  StackDistances& distances_;
  const CharacterSet skipped_;
  Covering covering_;
  Found found_;
};

// Visits the configurations after all tokens that lead elsewhere than from another state.
template <class Found>
class DifferingReachWalk {
 public:
  using Places = DifferingWalk::Places;

  DifferingReachWalk(WalkContext& context, StackDistances& distances, const WalkedTokens& walked, Covering covering,
                     Found found)
      : distances_(distances),
        tokens_(context.budget),
        pairs_(context, walked, {}, looked_, tokens_),
        covering_(covering),
        found_(found) {}

  int32_t skipped(const Places& from, std::span<const uint8_t> bytes, bool is_first) const {
    return pairs_.skipped(from, bytes, is_first);
  }
  bool step(const Places& from, uint8_t byte, Places& reached) {
    const bool differs = pairs_.step(from, byte, reached);
    distances_.add(from.one.free, reached.one.free);
    return differs;
  }
  bool covers(const Places& from, const Places& reached, const TrieNode& node) {
    return reached.one.state == kDead || covering_.covers(from.one, reached.one, node);
  }
  bool collects_below(const Places&, const TrieNode&) { return false; }
  void found(int32_t first, int32_t end, const Places& reached) {
    const Place& own = reached.one;
    found_(first, end, own.state == kDead ? kRefused : distances_.distance(own.state, own.top));
  }

 private:
  StackDistances& distances_;
  Looked looked_{};
  Vector<int32_t> tokens_;  // not used
  DifferingWalk pairs_;
  Covering covering_;
  Found found_;
};

auto adding_to(Vector<Reach::Run>& runs) {
  return [&runs](int32_t first, int32_t end, int32_t distance) {
    if (!runs.empty() && runs.back().end == first && runs.back().distance == distance) {
      runs.back().end = end;
    } else {
      runs.push_back({first, end, distance});
    }
  };
}

}  // namespace

void Reach::add(int32_t cost) {
  levels.clear();
  const auto note = [&](int32_t& distance) {
    if (distance == kRefused) return;
    if (distance < kFar) distance += cost;
    const auto place = std::ranges::lower_bound(levels, distance);
    if (place == levels.end() || *place != distance) levels.insert(place, distance);
  };
  for (Base& base : bases) note(base.distance);
  for (Vector<Run>* const all : {&runs, &changes}) {
    for (Run& run : *all) note(run.distance);
  }
  for (Vector<Token>* const all : {&tokens, &first}) {
    for (Token& token : *all) note(token.distance);
  }
}

Reach ReachFinder::find(const NumberedConfiguration& at,
                        const std::function<Reach(const NumberedConfiguration&)>& reach_of) {
  Reach found(budget_);
  alike_.clear();
  const Machine::Alike alike = alike_[at.state];
  if (for_all_tokens(alike)) return reach_of({alike.state, at.top});
  const int32_t loop = context_.characters.loop_after(at.state);
  if (loop != kDead) {
    found = reach_of({loop, at.top});
    alike_.clear();
    find_differing(at, loop, found);
    return found;
  }
  if (find_chained(at, found)) return found;
  for (const bool whole : {true, false}) walk({}, whole, at, found);
  return found;
}

// Find the distances from a state that loops on text, or that reads text of limited length. Return false if it does
// not, or if a walk over all tokens takes no longer.
bool ReachFinder::find_chained(const NumberedConfiguration& at, Reach& found) {
  const TextLike own = context_.characters.text(at.state);
  const Text* const text = own.target == kDead ? nullptr : texts_.find(own.set);
  if (!text || !text->rests(context_.characters.leaving(at.state, text->set()))) return false;
  const auto links = chain(context_, *text, at.state, false, [&](int32_t state) {
    const Machine::Alike alike = alike_[state];
    const int32_t other = for_all_tokens(alike) ? alike.state : state;
    return loops_on(context_, *text, other) ? other : kDead;
  });
  const auto leaving = [&](int32_t state) { return context_.characters.leaving(state, text->set()); };
  if (!links || !std::ranges::all_of(*links, [&](const Link& link) { return text->rests(leaving(link.state)); })) {
    return false;
  }
  for (auto length = static_cast<int32_t>(links->size()); length-- > 0;) {
    const auto& [state, loops] = (*links)[length];
    const int32_t distance = distances_.distance(state, at.top);
    if ((loops || length > 0) && (found.bases.empty() || found.bases.back().distance != distance)) {
      found.bases.push_back({&text->words(loops ? text->longest() : length), distance});
    }
    const Text::RestTable& rests = *text->rests(leaving(state));
    (leaving(state) & rests.some).for_each([&](uint8_t first) {
      const Rests& own_rests = *rests.by_first[first];
      if (length > own_rests.longest()) return;
      walk(loops ? own_rests.from(length) : own_rests.after(length), {state, at.top}, found);
    });
  }
  walk(text->set(), true, at, found);
  // Among the words are tokens that end inside a character, after which the end is farther.
  walk({}, false, at, found);
  return true;
}

void ReachFinder::find_differing(const NumberedConfiguration& at, int32_t other, Reach& found) {
  const DifferingWalk::Places start{place(at), {other, at.top, context_.stacks.num_kept()}};
  for (const bool whole : {true, false}) {
    const Trie& trie = whole ? vocabulary_.whole() : vocabulary_.partial();
    DifferingReachWalk walker(context_, distances_, {trie, vocabulary_.token_of_rank(), whole},
                              Covering(context_, trie, whole, alike_), adding_to(found.changes));
    walk_places(trie, start, walker, budget_);
  }
}

void ReachFinder::walk(const TokenTrie& rests, const NumberedConfiguration& at, Reach& found) {
  const auto add = [&](int32_t begin, int32_t end, int32_t distance) {
    for (int32_t rank = begin; rank < end; ++rank) found.tokens.push_back({rests.token_of_rank[rank], distance});
  };
  ReachWalk walker(context_, distances_, {}, Covering(context_, rests.trie, false, alike_), add);
  walk_places(rests.trie, place(at), walker, budget_);
}

void ReachFinder::walk(const CharacterSet& skipped, bool whole, const NumberedConfiguration& at, Reach& found) {
  const Trie& trie = whole ? vocabulary_.whole() : vocabulary_.partial();
  ReachWalk walker(context_, distances_, skipped, Covering(context_, trie, whole, alike_), adding_to(found.runs));
  walk_places(trie, place(at), walker, budget_);
}

}  // namespace tokenfst
