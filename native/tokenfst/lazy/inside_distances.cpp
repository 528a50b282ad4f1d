#include "tokenfst/lazy/inside_distances.h"

#include <algorithm>
#include <string_view>

namespace tokenfst {

namespace {

using automata::kNone;

// At most this many layers are written: if they do not grow evenly by then, further layers are treated as too far.
constexpr size_t kMaxLayers = 1 << 10;

// Return the difference between a layer and the one before, kNone if it is not the same for all states; 0 if no path
// exists.
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

InsideDistances::InsideDistances(const LazyNfa& nfa, const Trie& tokens, Budget& budget)
    : nfa_(nfa),
      budget_(budget),
      tokens_ahead_(nfa.text_.size(), 0, budget),
      bytes_inside_(nfa.num_fragment_states(), kFar, budget) {
  find_tokens_ahead(tokens);
  find_bytes_inside();
  find_layers();
}

// Literal texts.

void InsideDistances::find_tokens_ahead(const Trie& tokens) {
  uint8_t byte_of[256] = {};
  // A byte of a literal text is alone in its class.
  for (int byte = 0; byte < 256; ++byte) byte_of[nfa_.byte_class_[byte]] = static_cast<uint8_t>(byte);
  support::Map<std::string_view, int32_t, std::hash<std::string_view>> known(budget_);  // where each text begins first
  for (size_t chain = 0; chain + 1 < nfa_.chains_.size(); ++chain) {
    const int32_t begin = nfa_.chains_[chain].text_begin, end = nfa_.chains_[chain + 1].text_begin;
    const std::string_view text(reinterpret_cast<const char*>(nfa_.text_.data()) + begin, end - begin);
    const auto [first_place, is_new] = known.emplace(text, begin);
    if (!is_new) {
      std::copy_n(tokens_ahead_.begin() + first_place->second, text.size(), tokens_ahead_.begin() + begin);
      budget_.spend(1 + static_cast<int64_t>(text.size()) / 8);
      continue;
    }
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

void InsideDistances::find_bytes_inside() {
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

void InsideDistances::find_layers() {
  for (const LazyNfa::Counter& counter : nfa_.counters_) {
    const size_t size = nfa_.first_of_fragment_[counter.fragment + 1] - nfa_.first_of_fragment_[counter.fragment];
    Layers& own = layers_.emplace_back(Layers{support::Matrix<int32_t>(0, size, kFar, budget_)});
    for (;;) {
      own.bytes.add_row(kFar);
      const size_t count = own.bytes.rows() - 1;
      fill_layer(counter, own.bytes[count], count ? own.bytes[count - 1] : std::span<const int32_t>());
      const int32_t more = count ? growth(own.bytes[count], own.bytes[count - 1]) : kNone;
      own.growth = std::max(more, 0);
      if (more != kNone || count + 1 == kMaxLayers) break;
    }
  }
}

// Fill in the layer after `before`, which is empty for the first layer.
void InsideDistances::fill_layer(const LazyNfa::Counter& counter, std::span<int32_t> layer,
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

int32_t InsideDistances::bytes_left(const LazyNfa::Counter& counter, int32_t inner, int32_t units) const {
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

int32_t InsideDistances::most_in_chain(size_t chain) const {
  const int32_t begin = nfa_.chains_[chain].text_begin, end = nfa_.chains_[chain + 1].text_begin;
  return begin == end ? 0 : *std::max_element(tokens_ahead_.begin() + begin, tokens_ahead_.begin() + end);
}

int32_t InsideDistances::most_in_fragment(int32_t fragment) const {
  int32_t most = 0;
  for (int32_t state = nfa_.first_of_fragment_[fragment]; state < nfa_.first_of_fragment_[fragment + 1]; ++state) {
    if (bytes_inside_[state] < kFar) most = std::max(most, bytes_inside_[state]);
  }
  return most;
}

// Numbers of units that suffice are at most as large as the least, or as the number of layers.
int32_t InsideDistances::most_in_counter(const LazyNfa::Counter& counter) const {
  const Layers& own = layers_[&counter - nfa_.counters_.data()];
  int64_t most = 0;
  for (size_t count = 0; count < own.bytes.rows(); ++count) {
    for (const int32_t left : own.bytes[count]) most = std::max<int64_t>(most, left < kFar ? left : 0);
  }
  const int64_t more = counter.low - static_cast<int64_t>(own.bytes.rows()) + 1;
  return static_cast<int32_t>(std::min<int64_t>(most + own.growth * std::max<int64_t>(more, 0), kFar));
}

InsideDistances::Rest InsideDistances::rest_of(int32_t state) const {
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

}  // namespace tokenfst
