#include "automata/visibly_pushdown/fragments.h"

#include <algorithm>
#include <array>

#include "automata/fixpoint.h"

namespace automata {

namespace {

constexpr int32_t kTextEnd = 0x80;

// By byte, the first byte from there on that is in kPlainText; kTextEnd if there is none.
constexpr auto kNextPlain = [] {
  std::array<int16_t, kFirstLabel + 1> next{};
  next.fill(kTextEnd);
  for (int byte = kTextEnd - 1; byte >= 0; --byte) {
    next[byte] = kPlainText.words[byte >> 5] >> (byte & 31) & 1 ? static_cast<int16_t>(byte) : next[byte + 1];
  }
  return next;
}();

// Return the elements that lead to a state that is kept, ordered by their source, and where those of each state begin.
template <class T>
std::vector<int32_t> keep_by_source(std::span<const T> all, std::span<const uint8_t> keeps, std::vector<T>& kept) {
  std::vector<int32_t> offsets(keeps.size() + 1);
  for (const T& each : all) offsets[each.source + 1] += keeps[each.target];
  for (size_t state = 0; state < keeps.size(); ++state) offsets[state + 1] += offsets[state];
  kept.resize(offsets.back());
  std::vector<int32_t> next(offsets);
  for (const T& each : all) {
    if (keeps[each.target]) kept[next[each.source]++] = each;
  }
  return offsets;
}

// Call `each(label, target)` for the labels of a state.
template <class Each>
void for_labels(const ByteTables& automaton, int32_t state, Each each) {
  for (int32_t label = 0; label < automaton.num_labels; ++label) {
    const int32_t target = automaton.label_target(state, label);
    if (target != kNone) each(label, target);
  }
}

// Number the states of a fragment, and return whether texts begin in a state other than 0.
bool name_states(const ByteTables& automaton, const ArcsByState& arcs, int32_t start, NfaFragment& fragment) {
  std::vector<uint8_t> is_end = automaton.final;
  bool starts_anew = std::ranges::any_of(arcs.all(), [&](const ByteArc& arc) { return arc.target == start; });
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    if (!arcs[state].empty()) is_end[state] = false;
    for_labels(automaton, state, [&](int32_t, int32_t target) {
      is_end[state] = false;
      starts_anew = starts_anew || target == start;
    });
  }
  starts_anew = starts_anew || is_end[start];
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    const bool is_first = state == start && !starts_anew;
    fragment.state_of.push_back(is_end[state] ? 1 : is_first ? 0 : fragment.num_states++);
  }
  return starts_anew;
}

}  // namespace

Fragment::Fragment(int32_t num_states, std::span<const Range> arcs, std::span<const Edge> epsilon, Budget& budget) {
  budget.charge(num_bytes(num_states, arcs.size(), epsilon.size()));
  is_free_.resize(num_states);
  budget.spend(8 * static_cast<int64_t>(arcs.size() + epsilon.size()) + num_states);
  const RuleEnd end{1, 0};
  const EdgesOfBoth edges(arcs, epsilon);
  const auto leads_to_end = coaccessible(RuleGraph{num_states, 0, edges, {}, std::span(&end, 1)}, {}, budget);
  has_text_ = leads_to_end[0];
  arc_offsets_ = keep_by_source(arcs, std::span<const uint8_t>(leads_to_end), arcs_);
  epsilon_offsets_ = keep_by_source(epsilon, std::span<const uint8_t>(leads_to_end), epsilon_);
  is_deterministic_ = epsilon_.empty();
  for (int32_t state = 0; state < num_states; ++state) {
    const auto own = std::span(arcs_).subspan(arc_offsets_[state], arc_offsets_[state + 1] - arc_offsets_[state]);
    std::ranges::stable_sort(own, {}, &Range::low);
    is_deterministic_ = is_deterministic_ && std::ranges::adjacent_find(own, [](const Range& one, const Range& next) {
                                               return one.high >= next.low;
                                             }) == own.end();
  }
  for (const Range& arc : arcs_) {
    max_symbol_ = std::max(max_symbol_, arc.high);
    if (arc.low < kFirstLabel && arc.low > 0) cuts_.add(static_cast<uint8_t>(arc.low));
    if (arc.high < kFirstLabel - 1) cuts_.add(static_cast<uint8_t>(arc.high + 1));
  }
  find_free(budget);
}

size_t Fragment::num_bytes(size_t num_states, size_t num_arcs, size_t num_epsilon) {
  return sizeof(Range) * num_arcs + sizeof(Edge) * num_epsilon + (2 * sizeof(int32_t) + 1) * num_states;
}

// Return whether a state reads every character of kPlainText.
bool Fragment::reads_plain_text(int32_t state) const {
  int32_t next = kNextPlain[0];
  for (int32_t number = arc_offsets_[state]; number < arc_offsets_[state + 1]; ++number) {
    const Range& arc = arcs_[number];
    if (arc.low > next) break;
    if (arc.high >= next) next = kNextPlain[std::min(arc.high + 1, kFirstLabel)];
  }
  return next == kTextEnd;
}

// A state is not free if it does not read some character, or if some character leads to a state that is not free.
void Fragment::find_free(Budget& budget) {
  Vector<int32_t> others(budget);
  for (int32_t state = 0; state < num_states(); ++state) {
    is_free_[state] = reads_plain_text(state);
    if (!is_free_[state]) others.push_back(state);
  }
  if (std::ssize(others) == num_states()) return;
  Vector<Edge> back(budget);
  for (const Range& arc : arcs_) {
    if (is_free_[arc.source] && arc.low < kTextEnd && kNextPlain[arc.low] <= std::min(arc.high, kTextEnd - 1)) {
      back.push_back({arc.target, arc.source});
    }
  }
  const auto lose = least_fixpoint(
      num_states(), back.size(), [&](size_t edge) { return back[edge]; }, 0, [](size_t) { return FromTwo{}; }, others,
      budget);
  for (int32_t state = 0; state < num_states(); ++state) is_free_[state] = !lose[state];
}

NfaFragment nfa_fragment(const ByteTables& automaton, int32_t start, Budget& budget) {
  const ArcsByState arcs(automaton, budget);
  NfaFragment fragment{2, {}, {}, {}};
  budget.charge(sizeof(Range) * (arcs.all().size() + automaton.by_label.size()) +
                (sizeof(Edge) + sizeof(int32_t)) * automaton.num_states());
  if (name_states(automaton, arcs, start, fragment)) fragment.epsilon.push_back({0, fragment.state_of[start]});
  fragment.arcs.reserve(arcs.all().size());
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    const int32_t source = fragment.state_of[state];
    for (const ByteArc& arc : arcs[state]) {
      fragment.arcs.push_back({source, arc.low, arc.high, fragment.state_of[arc.target]});
    }
    for_labels(automaton, state, [&](int32_t label, int32_t target) {
      fragment.arcs.push_back({source, kFirstLabel + label, kFirstLabel + label, fragment.state_of[target]});
    });
    if (automaton.final[state] && source != 1) fragment.epsilon.push_back({source, 1});
    budget.spend(2 + static_cast<int64_t>(arcs[state].size()) + automaton.num_labels);
  }
  return fragment;
}

}  // namespace automata
