#include "tokenfst/lazy/nfa_distances.h"

#include <algorithm>

namespace tokenfst {

namespace {

using automata::kNone;

constexpr int32_t kUnseen = -1;
// At most this many layers are written: if they do not grow evenly by then, further layers are treated as too far.
constexpr size_t kMostLayers = 1 << 10;
// With more rows than this of states with flags, only the first of the guarded arcs that are open is followed.
constexpr size_t kMostMade = 1 << 12;

// The difference between a layer and the one before, kNone if it is not the same for all states; 0 if no path exists.
int32_t growth(std::span<const int32_t> layer, std::span<const int32_t> before) {
  int32_t more = 0;
  for (size_t state = 0; state < layer.size(); ++state) {
    if (layer[state] >= kFar) continue;
    if (before[state] >= kFar || (more && layer[state] - before[state] != more)) return kNone;
    more = layer[state] - before[state];
  }
  for (size_t state = 0; more && state < layer.size(); ++state) {
    if (layer[state] >= kFar && before[state] < kFar) return kNone;
  }
  return more;
}

}  // namespace

NfaDistances::NfaDistances(SubsetMachine& machine, const Vocabulary& vocabulary, Budget& budget)
    : machine_(machine),
      nfa_(machine.nfa()),
      budget_(budget),
      tokens_ahead_(nfa_.text_.size(), 0, budget),
      bytes_inside_(nfa_.coaccessible_.size(), kFar, budget),
      to_exit_(0, 0, kFar, budget),
      has_flags_(budget),
      possible_exits_(budget),
      made_(budget),
      followed_(budget),
      made_rows_(0, 0, kFar, budget),
      vectors_(budget),
      contexts_(budget),
      vector_(budget) {
  find_tokens_ahead(vocabulary.whole());
  find_bytes_inside();
  find_layers();
  find_rules_with_flags();
  find_ways_to_exits();
  vector_.assign(to_exit_.columns(), kFar);
  vector_[0] = 0;
  number(kNone);
}

// Literal texts.

void NfaDistances::find_tokens_ahead(const Trie& tokens) {
  uint8_t byte_of[256] = {};
  // A byte of a literal text is alone in its class.
  for (int byte = 0; byte < 256; ++byte) byte_of[nfa_.byte_class_[byte]] = static_cast<uint8_t>(byte);
  for (size_t chain = 0; chain + 1 < nfa_.chains_.size(); ++chain) {
    const int32_t begin = nfa_.chains_[chain].text_begin, end = nfa_.chains_[chain + 1].text_begin;
    const auto ahead = [&](int32_t place) { return place < end ? tokens_ahead_[place] : 0; };
    for (int32_t first = end - 1; first >= begin; --first) {
      int32_t least = 1 + ahead(first + 1), at = first;
      const TrieNode* node = &tokens.root();
      while (at < end) {
        const int32_t child = tokens.child(*node, byte_of[nfa_.text_[at]]);
        if (!child) break;
        node = &tokens[child];
        ++at;
        if (node->first_rank < tokens.own_end(*node)) least = std::min(least, 1 + ahead(at));
      }
      tokens_ahead_[first] = least;
      budget_.spend(1 + at - first);
    }
  }
}

// Fragments.

void NfaDistances::find_bytes_inside() {
  const auto num_states = static_cast<int32_t>(bytes_inside_.size());
  for (size_t fragment = 0; fragment + 1 < nfa_.first_of_fragment_.size(); ++fragment) {
    bytes_inside_[nfa_.first_of_fragment_[fragment] + 1] = 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t state = num_states - 1; state >= 0; --state) {
      int32_t least = bytes_inside_[state];
      for (const ClassArc& arc : nfa_.fragment_arcs(state)) least = std::min(least, 1 + bytes_inside_[arc.target]);
      for (int32_t target : nfa_.fragment_epsilon(state)) least = std::min(least, bytes_inside_[target]);
      changed = changed || least < bytes_inside_[state];
      bytes_inside_[state] = least;
    }
    budget_.spend(8 * num_states);
  }
}

// Counters.

void NfaDistances::find_layers() {
  for (const LazyNfa::Counter& counter : nfa_.counters_) {
    const size_t size = nfa_.first_of_fragment_[counter.fragment + 1] - nfa_.first_of_fragment_[counter.fragment];
    Layers& own = layers_.emplace_back(Layers{support::Matrix<int32_t>(0, size, kFar, budget_)});
    for (;;) {
      own.bytes.add_row(kFar);
      const size_t count = own.bytes.rows() - 1;
      fill_layer(counter, own.bytes[count], count ? own.bytes[count - 1] : std::span<const int32_t>());
      const int32_t more = count ? growth(own.bytes[count], own.bytes[count - 1]) : kNone;
      own.growth = std::max(more, 0);
      if (more != kNone || count + 1 == kMostLayers) break;
    }
  }
}

// Fill in the layer after `before`, which is empty for the first layer.
void NfaDistances::fill_layer(const LazyNfa::Counter& counter, std::span<int32_t> layer,
                              std::span<const int32_t> before) {
  const int32_t first = nfa_.first_of_fragment_[counter.fragment];
  if (before.empty()) layer[1] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto state = static_cast<int32_t>(layer.size()) - 1; state >= 0; --state) {
      int32_t least = layer[state];
      for (const ClassArc& arc : nfa_.fragment_arcs(first + state)) {
        const int32_t target = arc.target - first;
        if (!nfa_.number(counter, target).is_counted) {
          least = std::min(least, 1 + layer[target]);
        } else if (!before.empty()) {
          least = std::min(least, 1 + before[target]);
        }
      }
      for (int32_t target : nfa_.fragment_epsilon(first + state)) least = std::min(least, layer[target - first]);
      changed = changed || least < layer[state];
      layer[state] = least;
    }
    budget_.spend(8 * static_cast<int64_t>(layer.size()));
  }
}

int32_t NfaDistances::bytes_left(const LazyNfa::Counter& counter, int32_t inner, int32_t units) const {
  const Layers& own = layers_[&counter - nfa_.counters_.data()];
  const auto num_layers = static_cast<int64_t>(own.bytes.rows());
  const int64_t fewest = units >= 0 ? std::max(counter.low - units, 0) : 0;
  int64_t most = std::max(fewest, num_layers - 1);
  if (units >= 0 && counter.high != kNone) most = std::min<int64_t>(most, counter.high - units);
  int64_t least = kFar;
  for (int64_t count = fewest; count <= most; ++count) {
    int64_t left = own.bytes[std::min(count, num_layers - 1)][inner];
    if (count >= num_layers) left = own.growth ? left + own.growth * (count - num_layers + 1) : kFar;
    least = std::min(least, left);
  }
  return static_cast<int32_t>(least);
}

NfaDistances::Rest NfaDistances::rest_of(int32_t state) const {
  if (state < nfa_.num_outer()) return {state, 0};
  if (nfa_.is_in_chain(state)) {
    const auto [number, place] = nfa_.in_chain(state);
    const LazyNfa::Chain& chain = nfa_.chains_[number];
    return {chain.target, tokens_ahead_[chain.text_begin + place]};
  }
  if (state < nfa_.num_fixed_states()) {
    const auto [number, inner] = nfa_.in_copy(state);
    const LazyNfa::Copy& copy = nfa_.copies_[number];
    return {copy.target, bytes_inside_[nfa_.first_of_fragment_[copy.fragment] + inner]};
  }
  const LazyNfa::Counted at = nfa_.counted(state);
  return {at.counter.target, bytes_left(at.counter, at.inner, at.units)};
}

// Outer states.

void NfaDistances::find_rules_with_flags() {
  if (nfa_.guarded_.empty()) return;
  has_flags_.assign(nfa_.num_outer(), false);
  const auto num_rules = static_cast<int32_t>(nfa_.starts_.size());
  for (int32_t rule = 0; rule < num_rules; ++rule) {
    const int32_t begin = nfa_.starts_[rule], end = rule + 1 < num_rules ? nfa_.starts_[rule + 1] : nfa_.num_outer();
    if (nfa_.guarded_offsets_[begin] == nfa_.guarded_offsets_[end]) continue;
    std::fill(has_flags_.begin() + begin, has_flags_.begin() + end, true);
  }
  find_possible_exits();
}

// Find the exits of rules with flags that each state leads to if all arcs are open.
void NfaDistances::find_possible_exits() {
  possible_exits_.assign(nfa_.num_outer(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t state = nfa_.num_outer() - 1; state >= 0; --state) {
      if (!has_flags_[state]) continue;
      uint64_t found = possible_exits_[state];
      const auto add = [&](int32_t target) { found |= possible_exits_[target]; };
      if (const int32_t exit = nfa_.exit_of(state); exit != kNone) found |= exit_bit(nfa_.exit_in_rule(exit));
      each_plain_way(state, [&](int32_t, int32_t target) { add(target); });
      for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) add(arc.target);
      if (const int32_t call = nfa_.call_of(state); call != kNone) {
        for (int32_t exit = 0; exit < nfa_.num_exits(nfa_.rule_of(call)); ++exit) {
          if (const int32_t target = nfa_.target_of(state, exit); target != kNone) add(target);
        }
      }
      changed = changed || found != possible_exits_[state];
      possible_exits_[state] = found;
    }
    budget_.spend(8 * static_cast<int64_t>(nfa_.num_outer()));
  }
}

void NfaDistances::find_ways_to_exits() {
  int32_t most_exits = 1;
  for (int32_t rule = 0; rule < static_cast<int32_t>(nfa_.starts().size()); ++rule) {
    most_exits = std::max(most_exits, nfa_.num_exits(rule));
  }
  to_exit_ = support::Matrix<int32_t>(nfa_.num_fixed_states(), most_exits, kFar, budget_);
  for (bool changed = true; changed;) {
    changed = false;
    made_.clear();
    followed_.clear();
    made_rows_ = support::Matrix<int32_t>(0, most_exits, kFar, budget_);
    for (int32_t state = nfa_.num_outer() - 1; state >= 0; --state) {
      if (!has_flags_.empty() && has_flags_[state]) continue;
      changed = lower_by_arcs(to_exit_[state], state, 0, 0) || changed;
      budget_.spend(8 * most_exits);
    }
    // A rule may begin inside a fragment.
    changed = lower_inside_chains() || changed;
    changed = lower_inside_copies() || changed;
  }
  for (int32_t state = nfa_.first_detached_; state < nfa_.first_block_; ++state) {
    const bool is_end = state == nfa_.first_block_ - 1;
    to_exit_[state][0] = is_end ? 0 : rest_of(state - nfa_.first_detached_ + nfa_.num_outer()).more;
  }
}

std::span<const int32_t> NfaDistances::to_exit(int32_t state) {
  if (!is_found_alone(state)) return to_exit_[state];
  const auto known = made_.find(state);
  if (known == made_.end()) find_made(state);
  return made_rows_[made_.find(state)->second];
}

bool NfaDistances::is_found_alone(int32_t state) const {
  if (state >= nfa_.num_fixed_states()) return true;
  return !has_flags_.empty() && !nfa_.is_detached(state) && has_flags_[rest_of(state).state];
}

// Find the row of a state that is found alone, and those that it depends on, which may be as many as a text is long.
// Of the open guarded arcs one more is followed as long as some exit has not been reached. Where states lead in a
// circle, the row that is being found counts as far at first; then all are lowered until none changes.
void NfaDistances::find_made(int32_t state) {
  const size_t first = made_rows_.rows();
  bool meets_circle = false;
  Vector<int32_t> waiting(1, state, budget_), next(budget_);
  while (!waiting.empty()) {
    const int32_t at = waiting.back();
    const auto [place, is_new] = made_.try_emplace(at, static_cast<int32_t>(made_rows_.rows()));
    const int32_t row = place->second;
    if (is_new) {
      made_rows_.add_row(kFar);
      followed_.push_back({at, 1, false});
    } else if (followed_[row].is_done) {
      waiting.pop_back();
      continue;
    } else {
      fill_made(row);
      if (!lacks_exit(row) || followed_[row].num_arcs >= num_open_arcs(at) || made_rows_.rows() >= kMostMade) {
        followed_[row].is_done = true;
        waiting.pop_back();
        continue;
      }
      ++followed_[row].num_arcs;
    }
    next.clear();
    each_next(at, followed_[row].num_arcs, [&](int32_t target) { next.push_back(target); });
    for (const int32_t target : next) {
      if (!is_found_alone(target)) continue;
      const auto known = made_.find(target);
      if (known == made_.end()) {
        waiting.push_back(target);
      } else {
        meets_circle = meets_circle || !followed_[known->second].is_done;
      }
    }
    budget_.spend(32 + 8 * static_cast<int64_t>(next.size()));
  }
  for (bool changed = meets_circle; changed;) {
    changed = false;
    for (auto row = static_cast<int32_t>(made_rows_.rows()); row-- > static_cast<int32_t>(first);) {
      changed = fill_made(row) || changed;
      budget_.spend(32);
    }
  }
}

// A state that is not followed arc by arc is as far as what ends it.
// Return whether the row has changed.
bool NfaDistances::fill_made(int32_t number) {
  const auto [own, flags] = nfa_.apart(followed_[number].state);
  const Rest rest = rest_of(own);
  Vector<int32_t> row(made_rows_.columns(), kFar, budget_);
  if (rest.state == own) {
    lower_by_arcs(row, own, flags, followed_[number].num_arcs);
  } else {
    lower(row, rest.more, nfa_.with_flags(rest.state, flags));
  }
  const bool changes = !std::ranges::equal(row, made_rows_[number]);
  std::ranges::copy(row, made_rows_[number].begin());
  return changes;
}

// Return whether an exit that may be possible has not been reached by a row.
bool NfaDistances::lacks_exit(int32_t number) {
  const int32_t own = nfa_.apart(followed_[number].state).state;
  if (rest_of(own).state != own) return false;
  const auto row = made_rows_[number];
  for (int32_t exit = 0; exit < static_cast<int32_t>(row.size()); ++exit) {
    if (row[exit] >= kFar && possible_exits_[own] & exit_bit(exit)) return true;
  }
  return false;
}

int32_t NfaDistances::num_open_arcs(int32_t state) {
  const auto [own, flags] = nfa_.apart(state);
  return static_cast<int32_t>(
      std::ranges::count_if(nfa_.guarded_arcs(own), [&](const auto& arc) { return nfa_.is_open(arc, flags); }));
}

// Call a function with each state whose row that of a state depends on.
template <class Visit>
void NfaDistances::each_next(int32_t state, int32_t num_arcs, Visit visit) {
  const auto [own, flags] = nfa_.apart(state);
  const Rest rest = rest_of(own);
  if (rest.state != own) return visit(nfa_.with_flags(rest.state, flags));
  each_way(own, flags, num_arcs, [&](int32_t, int32_t target) { visit(target); });
  const int32_t call = nfa_.call_of(state);
  if (call == kNone) return;
  const int32_t rule = nfa_.rule_of(call);
  for (const int32_t member : machine_.members(machine_.rule_start(rule))) visit(member);
  for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
    if (const int32_t target = nfa_.target_of(state, exit); target != kNone) visit(target);
  }
}

// Call a function with the states that follow an outer state but for guarded arcs, and how much is read before each.
template <class Visit>
void NfaDistances::each_plain_way(int32_t state, Visit lead) {
  for (int32_t at = nfa_.epsilon_offsets_[state]; at < nfa_.epsilon_offsets_[state + 1]; ++at) {
    const int32_t target = nfa_.epsilon_[at];
    if (target >= 0) {
      lead(0, target);
    } else {
      const LazyNfa::Counter& counter = nfa_.counters_[-1 - target];
      lead(bytes_left(counter, counter.entry, 0), counter.target);
    }
  }
  for (const LazyNfa::Edge& edge : nfa_.edges_of(state)) {
    if (edge.is_copy) {
      const LazyNfa::Copy& copy = nfa_.copies_[edge.number];
      lead(bytes_inside_[nfa_.first_of_fragment_[copy.fragment]], copy.target);
    } else {
      const LazyNfa::Chain& chain = nfa_.chains_[edge.number];
      lead(tokens_ahead_[chain.text_begin], chain.target);
    }
  }
}

// Do the same with some flags set, and with the first `num_arcs` of the guarded arcs that are open.
template <class Visit>
void NfaDistances::each_way(int32_t state, int32_t flags, int32_t num_arcs, Visit visit) {
  each_plain_way(state, [&](int32_t more, int32_t target) { visit(more, nfa_.with_flags(target, flags)); });
  for (const automata::GuardedArc& arc : nfa_.guarded_arcs(state)) {
    if (num_arcs == 0) return;
    if (!nfa_.is_open(arc, flags)) continue;
    visit(0, nfa_.target_of(arc, flags));
    --num_arcs;
  }
}

bool NfaDistances::lower(std::span<int32_t> row, int32_t more, int32_t target) {
  const auto from = to_exit(target);
  bool changed = false;
  for (size_t exit = 0; exit < row.size(); ++exit) {
    if (from[exit] + more >= row[exit]) continue;
    row[exit] = from[exit] + more;
    changed = true;
  }
  return changed;
}

bool NfaDistances::lower_inside_chains() {
  bool changed = false;
  for (size_t chain = 0; chain + 1 < nfa_.chains_.size(); ++chain) {
    const auto& own = nfa_.chains_[chain];
    if (!has_flags_.empty() && has_flags_[own.target]) continue;
    const int32_t end = nfa_.chains_[chain + 1].first_state;
    for (int32_t state = own.first_state; state < end; ++state) {
      const int32_t more = tokens_ahead_[own.text_begin + state - own.first_state + 1];
      changed = lower(to_exit_[state], more, own.target) || changed;
    }
    budget_.spend(8 * (end - own.first_state));
  }
  return changed;
}

bool NfaDistances::lower_inside_copies() {
  bool changed = false;
  for (const LazyNfa::Copy& copy : nfa_.copies_) {
    if (!has_flags_.empty() && has_flags_[copy.target]) continue;
    const int32_t first = nfa_.first_of_fragment_[copy.fragment];
    const int32_t size = nfa_.first_of_fragment_[copy.fragment + 1] - first;
    for (int32_t inner = 2; inner < size; ++inner) {
      changed = lower(to_exit_[copy.first_state + inner - 2], bytes_inside_[first + inner], copy.target) || changed;
    }
    budget_.spend(8 * size);
  }
  return changed;
}

// Lowers a row by all that leads from an outer state.
bool NfaDistances::lower_by_arcs(std::span<int32_t> row, int32_t state, int32_t flags, int32_t num_arcs) {
  bool changed = false;
  if (const int32_t exit = nfa_.exit_of(state); exit != kNone) {
    int32_t& own = row[nfa_.exit_in_rule(exit)];
    changed = own > 0;
    own = 0;
  }
  each_way(state, flags, num_arcs,
           [&](int32_t more, int32_t target) { changed = lower(row, more, target) || changed; });
  return lower_by_call(row, nfa_.with_flags(state, flags)) || changed;
}

bool NfaDistances::lower_by_call(std::span<int32_t> row, int32_t state) {
  const int32_t call = nfa_.call_of(state);
  if (call == kNone) return false;
  const int32_t rule = nfa_.rule_of(call);
  const auto begins = machine_.members(machine_.rule_start(rule));
  bool changed = false;
  for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
    const int32_t target = nfa_.target_of(state, exit);
    int32_t least = kFar;
    for (int32_t member : begins) least = std::min(least, to_exit(member)[exit]);
    budget_.spend(static_cast<int64_t>(begins.size()));
    if (target != kNone && least < kFar) changed = lower(row, least, target) || changed;
  }
  return changed;
}

// Sets and contexts.

int32_t NfaDistances::rule_of(int32_t state) const {
  const int32_t outer = rest_of(nfa_.apart(state).state).state;
  return static_cast<int32_t>(std::ranges::upper_bound(nfa_.starts_, outer) - nfa_.starts_.begin()) - 1;
}

int32_t NfaDistances::first_exit(int32_t joint, int32_t rule) const {
  const auto rules = machine_.joint_rules(joint);
  const auto place = std::ranges::lower_bound(rules, rule) - rules.begin();
  return static_cast<int32_t>(place) * static_cast<int32_t>(to_exit_.columns());
}

Context NfaDistances::number(int32_t joint) {
  const Context found = vectors_.number(vector_);
  return found.number == kNoContext.number ? found
                                           : Context{contexts_.intern({found.number, joint}).number, found.cost};
}

int32_t NfaDistances::to_end(int32_t context, int32_t state) {
  const auto [vector, joint] = contexts_[context];
  const auto from = to_exit(state);
  const auto after =
      vectors_[vector].subspan(joint == kNone || nfa_.is_detached(state) ? 0 : first_exit(joint, rule_of(state)));
  int32_t least = kFar;
  for (size_t exit = 0; exit < from.size(); ++exit) least = std::min(least, from[exit] + after[exit]);
  budget_.spend(static_cast<int64_t>(from.size()));
  return least;
}

int32_t NfaDistances::distance(int32_t context, int32_t set) {
  if (distances_.size() <= static_cast<size_t>(context)) distances_.resize(context + 1, Vector<int32_t>(budget_));
  Vector<int32_t>& known = distances_[context];
  if (known.size() < static_cast<size_t>(machine_.num_states())) known.resize(machine_.num_states(), kUnseen);
  if (known[set] != kUnseen) return known[set];
  int32_t least = kFar;
  for (int32_t member : machine_.members(set)) least = std::min(least, to_end(context, member));
  return known[set] = least;
}

Context NfaDistances::above(int32_t context, int32_t called) {
  if (SubsetMachine::is_state(called)) {
    vector_.assign(to_exit_.columns(), kFar);
    vector_[0] = to_end(context, SubsetMachine::state_of_symbol(called));
    return number(kNone);
  }
  const int32_t joint = machine_.joint_call(called);
  const size_t num_rules = joint == kNone ? 1 : machine_.joint_rules(joint).size();
  vector_.assign(num_rules * to_exit_.columns(), kFar);
  for (int32_t member : machine_.members(called)) {
    const int32_t call = nfa_.call_of(member);
    if (call == kNone) continue;
    const int32_t rule = nfa_.rule_of(call), first = joint == kNone ? 0 : first_exit(joint, rule);
    for (int32_t exit = 0; exit < nfa_.num_exits(rule); ++exit) {
      const int32_t target = nfa_.target_of(member, exit);
      if (target != kNone) vector_[first + exit] = std::min(vector_[first + exit], to_end(context, target));
    }
  }
  return number(joint);
}

}  // namespace tokenfst
