// Builds a LazyNfa from a layout; `tokenfst/lazy/readings.cpp` reads it.
#include "tokenfst/lazy/nfa.h"

#include <algorithm>

#include "automata/fixpoint.h"
#include "automata/intervals.h"

namespace tokenfst {

using automata::kEndless;
using automata::kNone;
using automata::VisiblyPushdownLayout;

namespace {

// The most states without those of blocks, which need numbers as well.
constexpr int64_t kMaxStates = 1 << 30;

template <class T>
Vector<T> copied(const std::vector<T>& values, Budget& budget) {
  return Vector<T>(values.begin(), values.end(), budget);
}

}  // namespace

LazyNfa::LazyNfa(const VisiblyPushdownLayout& layout, Budget& budget)
    : starts_(copied(layout.starts, budget)),
      first_exit_(copied(layout.first_exit, budget)),
      rule_of_exit_(budget),
      fragments_(budget),
      first_of_fragment_(budget),
      arc_offsets_(budget),
      inner_offsets_(budget),
      arcs_(budget),
      inner_epsilon_(budget),
      only_reads_(budget),
      edge_offsets_(budget),
      epsilon_offsets_(budget),
      epsilon_(budget),
      edges_(budget),
      call_of_(layout.num_states, kNone, budget),
      exit_of_(layout.num_states, kNone, budget),
      detours_(layout.detours.empty() ? 0 : layout.num_states, 0, budget),
      calls_(copied(layout.calls, budget)),
      targets_(copied(layout.targets, budget)),
      chains_(budget),
      text_(budget),
      copies_(budget),
      copy_pages_(budget),
      counters_(budget),
      numbers_(copied(layout.numbers, budget)),
      blocks_(budget),
      made_blocks_(budget),
      block_of_page_(budget),
      guarded_offsets_(budget),
      is_direct_(budget),
      guarded_(budget),
      decisions_(copied(layout.decisions, budget)),
      flag_sets_(budget),
      flagged_(budget),
      flagged_pages_(budget) {
  for (int32_t rule = 0; rule < layout.num_rules(); ++rule) {
    rule_of_exit_.insert(rule_of_exit_.end(), num_exits(rule), rule);
  }
  classify(layout);
  read_fragments(layout, budget);
  number_states(layout);
  read_outer(layout, budget);
  read_counters(layout);
  num_first_states_ = num_states();
}

void LazyNfa::classify(const VisiblyPushdownLayout& layout) {
  bool cuts[257] = {};
  for (uint8_t byte : layout.text) cuts[byte] = cuts[byte + 1] = true;
  support::ByteSet of_fragments;
  for (const automata::FragmentPointer& fragment : layout.fragments) of_fragments |= fragment->cuts();
  of_fragments.for_each([&](uint8_t byte) { cuts[byte] = true; });
  for (int32_t byte = 1; byte < 256; ++byte)
    byte_class_[byte] = static_cast<uint8_t>(byte_class_[byte - 1] + cuts[byte]);
  num_classes_ = byte_class_[255] + 1;
  text_.reserve(layout.text.size());
  for (uint8_t byte : layout.text) text_.push_back(byte_class_[byte]);
}

void LazyNfa::read_fragments(const VisiblyPushdownLayout& layout, Budget& budget) {
  fragments_.assign(layout.fragments.begin(), layout.fragments.end());
  int32_t num_states = 0;
  size_t num_arcs = 0, num_epsilon = 0;
  for (const automata::FragmentPointer& fragment : fragments_) {
    first_of_fragment_.push_back(num_states);
    num_states += fragment->num_states();
    num_arcs += fragment->arcs().size(), num_epsilon += fragment->epsilon().size();
  }
  first_of_fragment_.push_back(num_states);
  arc_offsets_.reserve(num_states + 1), inner_offsets_.reserve(num_states + 1), only_reads_.reserve(num_states);
  arcs_.reserve(num_arcs), inner_epsilon_.reserve(num_epsilon);
  for (size_t fragment = 0; fragment < fragments_.size(); ++fragment) {
    read_fragment(*fragments_[fragment], first_of_fragment_[fragment]);
  }
  arc_offsets_.push_back(static_cast<int32_t>(num_arcs));
  inner_offsets_.push_back(static_cast<int32_t>(num_epsilon));
  budget.spend(4 * num_states + 2 * static_cast<int64_t>(num_arcs + num_epsilon));
}

// Read a fragment whose states have the numbers from `first` up.
void LazyNfa::read_fragment(const automata::Fragment& fragment, int32_t first) {
  const auto first_arc = static_cast<int32_t>(arcs_.size()), first_edge = static_cast<int32_t>(inner_epsilon_.size());
  for (const automata::Range& arc : fragment.arcs()) {
    arcs_.push_back({byte_class_[arc.low], byte_class_[arc.high], first + arc.target});
  }
  for (const automata::Edge& edge : fragment.epsilon()) inner_epsilon_.push_back(first + edge.target);
  for (int32_t state = 0; state < fragment.num_states(); ++state) {
    const int32_t arc = fragment.first_arc(state), edge = fragment.first_epsilon(state);
    arc_offsets_.push_back(first_arc + arc);
    inner_offsets_.push_back(first_edge + edge);
    only_reads_.push_back(fragment.first_arc(state + 1) > arc && fragment.first_epsilon(state + 1) == edge);
  }
}

void LazyNfa::number_states(const VisiblyPushdownLayout& layout) {
  int64_t num_states = layout.num_states + 2 * static_cast<int64_t>(layout.text.size());
  for (const automata::Copy& copy : layout.copies) num_states += fragments_[copy.fragment]->num_states();
  support::require_at_most(num_states, kMaxStates);
  int32_t number = layout.num_states;
  for (size_t chain = 0; chain < layout.chains.size(); ++chain) {
    chains_.push_back({number, layout.text_offsets[chain], layout.chains[chain].target});
    number += std::max(layout.text_offsets[chain + 1] - layout.text_offsets[chain] - 1, 0);
  }
  chains_.push_back({number, static_cast<int32_t>(layout.text.size()), kNone});
  for (const automata::Copy& copy : layout.copies) {
    copies_.push_back({number, copy.fragment, copy.target});
    number += fragments_[copy.fragment]->num_states() - 2;
  }
  copies_.push_back({number, kNone, kNone});
  first_detached_ = first_block_ = number;
  number_pages();
  if (!layout.guarded.empty()) first_block_ += chains_.back().first_state - layout.num_states + 1;
}

void LazyNfa::number_pages() {
  const auto num_copies = static_cast<int32_t>(copies_.size()) - 1;
  const int32_t first = chains_.back().first_state, num_states = first_detached_ - first;
  while (num_states >> copy_page_bits_ > 2 * num_copies) ++copy_page_bits_;
  int32_t copy = 0;
  for (int32_t page = 0; page <= num_states >> copy_page_bits_; ++page) {
    while (copy + 1 < num_copies && copies_[copy + 1].first_state - first <= page << copy_page_bits_) ++copy;
    copy_pages_.push_back(copy);
  }
  copy_pages_.push_back(std::max(num_copies - 1, 0));
}

// Read the outer states alone: a chain, a copy or a counter is one arc.
void LazyNfa::read_outer(const VisiblyPushdownLayout& layout, Budget& budget) {
  Vector<automata::Edge> outer(budget);
  outer.insert(outer.end(), layout.chains.begin(), layout.chains.end());
  for (const automata::Copy& copy : layout.copies) {
    if (fragments_[copy.fragment]->has_text()) outer.push_back({copy.source, copy.target});
  }
  for (const automata::Counter& counter : layout.counters) outer.push_back({counter.entered, counter.end});
  for (const automata::GuardedArc& arc : layout.guarded) outer.push_back({arc.source, arc.target});
  const auto returns = automata::returns_of(layout, budget);
  const automata::EdgesOfBoth edges(outer, layout.epsilon);
  const automata::RuleGraph graph{layout.num_states, layout.num_exits(), edges, returns, layout.ends};
  const auto has_text = automata::productive_exits(graph, layout.starts, budget);
  const auto alive = automata::coaccessible(graph, has_text, budget);
  has_text_ = has_text[0];
  for (const automata::Call& call : layout.calls) {
    if (!alive[call.source]) continue;
    const auto targets = layout.targets_of(call);
    for (size_t exit = 0; exit < targets.size(); ++exit) {
      const bool can_continue = targets[exit] != kNone && alive[targets[exit]];
      is_exact_ = is_exact_ && (!has_text[first_exit_[call.rule] + exit] || can_continue);
    }
  }
  read_edges(layout, alive, budget);
  read_epsilon(layout, alive, budget);
  read_calls(layout, alive);
  read_guarded(layout, alive, budget);
}

void LazyNfa::read_edges(const VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget) {
  const auto num_chains = static_cast<int32_t>(layout.chains.size());
  const auto source = [&](size_t edge) {
    return edge < layout.chains.size() ? layout.chains[edge].source : layout.copies[edge - layout.chains.size()].source;
  };
  const auto rows = support::grouped(layout.num_states, layout.chains.size() + layout.copies.size(), source, budget);
  for (int32_t state = 0; state < layout.num_states; ++state) {
    edge_offsets_.push_back(static_cast<int32_t>(edges_.size()));
    for (int32_t edge : rows[state]) {
      if (edge < num_chains) {
        const bool has_bytes = layout.text_offsets[edge] < layout.text_offsets[edge + 1];
        if (has_bytes && alive[layout.chains[edge].target]) edges_.push_back({false, edge});
      } else {
        const automata::Copy& copy = layout.copies[edge - num_chains];
        if (alive[copy.target] && fragments_[copy.fragment]->has_text()) edges_.push_back({true, edge - num_chains});
      }
    }
  }
  edge_offsets_.push_back(static_cast<int32_t>(edges_.size()));
}

// Read the epsilon arcs of the layout, chains without a byte, and the entries of counters.
void LazyNfa::read_epsilon(const VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget) {
  struct Epsilon {
    int32_t source, target, leads_to;
  };
  Vector<Epsilon> all(budget);
  for (const automata::Edge& edge : layout.epsilon) all.push_back({edge.source, edge.target, edge.target});
  for (size_t chain = 0; chain < layout.chains.size(); ++chain) {
    const automata::Edge& edge = layout.chains[chain];
    if (layout.text_of(chain).empty()) all.push_back({edge.source, edge.target, edge.target});
  }
  for (const automata::Counter& counter : layout.counters) {
    all.push_back({counter.entered, counter.end, -1 - static_cast<int32_t>(&counter - layout.counters.data())});
  }
  const auto rows = support::grouped(layout.num_states, all.size(), [&](size_t e) { return all[e].source; }, budget);
  for (int32_t state = 0; state < layout.num_states; ++state) {
    epsilon_offsets_.push_back(static_cast<int32_t>(epsilon_.size()));
    for (int32_t e : rows[state]) {
      if (alive[all[e].target]) epsilon_.push_back(all[e].leads_to);
    }
  }
  epsilon_offsets_.push_back(static_cast<int32_t>(epsilon_.size()));
}

// Every state that a text leads to is coaccessible whatever its flags are: the grammar is made so.
void LazyNfa::read_guarded(const VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget) {
  if (layout.guarded.empty()) return;
  const auto source = [&](size_t arc) { return layout.guarded[arc].source; };
  const auto rows = support::grouped(layout.num_states, layout.guarded.size(), source, budget);
  for (int32_t state = 0; state < layout.num_states; ++state) {
    guarded_offsets_.push_back(static_cast<int32_t>(guarded_.size()));
    for (int32_t arc : rows[state]) {
      if (alive[layout.guarded[arc].target]) guarded_.push_back(layout.guarded[arc]);
    }
  }
  guarded_offsets_.push_back(static_cast<int32_t>(guarded_.size()));
  const auto reads_alone = [&](const automata::GuardedArc& arc) {
    const auto edges = edges_of(arc.target);
    return guarded_arcs(arc.target).empty() && epsilon_offsets_[arc.target] == epsilon_offsets_[arc.target + 1] &&
           call_of_[arc.target] == kNone && exit_of_[arc.target] == kNone && !edges.empty() &&
           std::ranges::all_of(edges, [&](const Edge& edge) {
             return !edge.is_copy || fragment_epsilon(first_of_fragment_[copies_[edge.number].fragment]).empty();
           });
  };
  for (int32_t state = 0; state < layout.num_states; ++state) {
    is_direct_.push_back(std::ranges::all_of(guarded_arcs(state), reads_alone));
  }
}

void LazyNfa::read_calls(const VisiblyPushdownLayout& layout, std::span<const uint8_t> alive) {
  for (size_t call = 0; call < calls_.size(); ++call) {
    if (alive[calls_[call].source]) call_of_[calls_[call].source] = static_cast<int32_t>(call);
  }
  for (const automata::RuleEnd& end : layout.ends) exit_of_[end.state] = end.exit;
  for (const automata::Detour& detour : layout.detours) detours_[detour.state] = detour.tokens;
  for (int32_t& target : targets_) {
    if (target != kNone && !alive[target]) target = kNone;
  }
}

void LazyNfa::read_counters(const VisiblyPushdownLayout& layout) {
  for (const automata::Counter& counter : layout.counters) {
    const int32_t size = fragments_[counter.fragment]->num_states();
    const auto own = std::span(numbers_).subspan(counter.first_number, size);
    Counter made{counter.end, counter.fragment, counter.entry, counter.low, counter.high, counter.first_number, 0,
                 true};
    for (const automata::CountedState& state : own) {
      made.slack = std::max(made.slack, state.least);
      made.all_endless = made.all_endless && !(0 < state.most && state.most < kEndless);
    }
    const auto number = static_cast<int32_t>(counters_.size());
    counters_.push_back(made);
    for (int32_t units : {0, kBelow, kWithin}) add_block(number, units);
  }
}

}  // namespace tokenfst
