#include "automata/visibly_pushdown/layout.h"

#include <algorithm>
#include <limits>

namespace automata {

namespace {

struct Sizes {
  int64_t states, arcs, epsilon;
};

Sizes sizes_of(const VisiblyPushdownLayout& layout) {
  Sizes sizes{layout.num_states, static_cast<int64_t>(layout.text.size()), static_cast<int64_t>(layout.epsilon.size())};
  for (size_t chain = 0; chain < layout.chains.size(); ++chain) {
    const auto size = static_cast<int64_t>(layout.text_of(chain).size());
    size ? sizes.states += size - 1 : sizes.epsilon += 1;
  }
  for (const Copy& copy : layout.copies) {
    const Fragment& fragment = *layout.fragments[copy.fragment];
    sizes.states += fragment.num_states() - 2;
    sizes.arcs += static_cast<int64_t>(fragment.arcs().size());
    sizes.epsilon += static_cast<int64_t>(fragment.epsilon().size());
  }
  return sizes;
}

void write_chains(const VisiblyPushdownLayout& layout, WrittenLayout& found) {
  for (size_t chain = 0; chain < layout.chains.size(); ++chain) {
    auto [state, end] = layout.chains[chain];
    const auto text = layout.text_of(chain);
    if (text.empty()) found.epsilon.push_back({state, end});
    for (size_t place = 0; place < text.size(); ++place) {
      const int32_t target = place + 1 < text.size() ? found.num_states++ : end;
      found.arcs.push_back({state, text[place], text[place], target});
      state = target;
    }
  }
}

void write_copies(const VisiblyPushdownLayout& layout, WrittenLayout& found, Budget& budget) {
  for (const Copy& copy : layout.copies) {
    // States 0 and 1 are the ends of the copy; the others are new.
    const int32_t base = found.num_states - 2;
    const auto copied = [&](int32_t state) {
      return state == 0 ? copy.source : state == 1 ? copy.target : base + state;
    };
    const Fragment& fragment = *layout.fragments[copy.fragment];
    for (const Range& arc : fragment.arcs()) {
      found.arcs.push_back({copied(arc.source), arc.low, arc.high, copied(arc.target)});
    }
    for (const Edge& edge : fragment.epsilon()) {
      found.epsilon.push_back({copied(edge.source), copied(edge.target)});
    }
    found.num_states += fragment.num_states() - 2;
    budget.spend(1 + static_cast<int64_t>(fragment.arcs().size()));
  }
}

}  // namespace

size_t num_bytes(const VisiblyPushdownLayout& layout) {
  return layout.text.size() + sizeof(FragmentPointer) * layout.fragments.size() +
         8 * (layout.chains.size() + layout.epsilon.size()) +
         8 * (layout.ends.size() + layout.detours.size() + layout.prepared.size()) +
         sizeof(Counter) * layout.counters.size() +
         12 * (layout.copies.size() + layout.calls.size() + layout.numbers.size()) +
         sizeof(GuardedArc) * layout.guarded.size() + sizeof(Decision) * layout.decisions.size() +
         4 * (layout.targets.size() + layout.text_offsets.size() + static_cast<size_t>(layout.num_states));
}

int64_t num_written_arcs(const VisiblyPushdownLayout& layout) { return sizes_of(layout).arcs; }

bool reads(const VisiblyPushdownLayout& layout, uint8_t byte) {
  return std::ranges::find(layout.text, byte) != layout.text.end() ||
         std::ranges::any_of(layout.fragments, [&](const FragmentPointer& fragment) {
           return std::ranges::any_of(fragment->arcs(),
                                      [&](const Range& arc) { return arc.low <= byte && byte <= arc.high; });
         });
}

Vector<Return> returns_of(const VisiblyPushdownLayout& layout, Budget& budget) {
  Vector<Return> returns(budget);
  for (const Call& call : layout.calls) {
    int32_t exit = layout.first_exit[call.rule];
    for (int32_t target : layout.targets_of(call)) {
      if (target != kNone) returns.push_back({call.source, exit, target});
      ++exit;
    }
    budget.spend(2);
  }
  return returns;
}

WrittenLayout written(const VisiblyPushdownLayout& layout, size_t num_more_arcs, Budget& budget) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max() - 2;
  const Sizes sizes = sizes_of(layout);
  // Each call takes one more state when it is determinized.
  support::require_at_most(sizes.states + static_cast<int64_t>(layout.calls.size()), kMax);
  WrittenLayout found{layout.num_states, Vector<Range>(budget), Vector<Edge>(budget)};
  found.arcs.reserve(sizes.arcs + num_more_arcs);
  found.epsilon.reserve(sizes.epsilon);
  found.epsilon.assign(layout.epsilon.begin(), layout.epsilon.end());
  budget.spend(static_cast<int64_t>(layout.text.size() + layout.epsilon.size()));
  write_chains(layout, found);
  write_copies(layout, found, budget);
  return found;
}

}  // namespace automata
