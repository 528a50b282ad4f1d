#include "automata/visibly_pushdown/wanted_exits.h"

#include <algorithm>

#include "automata/distance.h"
#include "support/interner.h"

namespace automata {

namespace {

// The copies may take `kMaxTimes` times the memory of the layout and `kMaxMore` bytes more.
constexpr size_t kMaxTimes = 8, kMaxMore = 1 << 16;
// The most copies of one rule.
constexpr int32_t kMaxCopies = 64;

// A step from one state to another without a call: a chain, a copy of a fragment, a counter, an epsilon arc or a
// guarded arc.
struct Link {
  enum class Kind : uint8_t { kChain, kCopy, kCounter, kEpsilon, kGuarded };
  int32_t source, target;
  Kind kind;
  int32_t number;
};

Vector<Link> links_of(const VisiblyPushdownLayout& layout, Budget& budget) {
  Vector<Link> links(budget);
  const auto add = [&](int32_t source, int32_t target, Link::Kind kind, size_t number) {
    links.push_back({source, target, kind, static_cast<int32_t>(number)});
  };
  for (size_t chain = 0; chain < layout.chains.size(); ++chain) {
    add(layout.chains[chain].source, layout.chains[chain].target, Link::Kind::kChain, chain);
  }
  for (size_t at = 0; at < layout.copies.size(); ++at) {
    const Copy& copy = layout.copies[at];
    if (layout.fragments[copy.fragment]->has_text()) add(copy.source, copy.target, Link::Kind::kCopy, at);
  }
  for (size_t at = 0; at < layout.counters.size(); ++at) {
    add(layout.counters[at].entered, layout.counters[at].end, Link::Kind::kCounter, at);
  }
  for (const Edge& edge : layout.epsilon) add(edge.source, edge.target, Link::Kind::kEpsilon, 0);
  for (size_t at = 0; at < layout.guarded.size(); ++at) {
    add(layout.guarded[at].source, layout.guarded[at].target, Link::Kind::kGuarded, at);
  }
  return links;
}

// Add a link of a layout to another one, between other states.
void append(const VisiblyPushdownLayout& layout, const Link& link, int32_t source, int32_t target,
            VisiblyPushdownLayout& to) {
  switch (link.kind) {
    case Link::Kind::kChain: {
      const auto text = layout.text_of(link.number);
      to.text.insert(to.text.end(), text.begin(), text.end());
      to.text_offsets.push_back(static_cast<int32_t>(to.text.size()));
      to.chains.push_back({source, target});
      break;
    }
    case Link::Kind::kCopy:
      to.copies.push_back({layout.copies[link.number].fragment, source, target});
      break;
    case Link::Kind::kCounter: {
      Counter counter = layout.counters[link.number];
      counter.entered = source, counter.end = target;
      to.counters.push_back(counter);
      break;
    }
    case Link::Kind::kEpsilon:
      to.epsilon.push_back({source, target});
      break;
    case Link::Kind::kGuarded: {
      GuardedArc arc = layout.guarded[link.number];
      arc.source = source, arc.target = target;
      to.guarded.push_back(arc);
    }
  }
}

// Return the part of a layout that all copies share: its fragments and numbers.
VisiblyPushdownLayout without_rules(const VisiblyPushdownLayout& layout) {
  VisiblyPushdownLayout found;
  found.num_states = kLastState + 1;
  found.num_labels = layout.num_labels;
  found.first_exit = {0};
  found.text_offsets = {0};
  found.fragments = layout.fragments;
  found.numbers = layout.numbers;
  found.decisions = layout.decisions;
  return found;
}

class LayoutCopies {
 public:
  LayoutCopies(const VisiblyPushdownLayout& layout, Budget& budget)
      : layout_(layout),
        links_(links_of(layout, budget)),
        from_(support::grouped(
            layout.num_states, links_.size(), [&](size_t at) { return links_[at].source; }, budget)),
        is_productive_(budget),
        call_of_(layout.num_states, kNone, budget),
        detour_(layout.detours.empty() ? 0 : layout.num_states, 0, budget),
        exit_of_(layout.num_states, kNone, budget),
        local_(layout.num_states, kNone, budget),
        wanted_(budget),
        found_(without_rules(layout)),
        budget_(budget) {
    const auto returns = returns_of(layout, budget);
    const RuleGraph graph{layout.num_states, layout.num_exits(), links_, returns, layout.ends};
    is_productive_ = productive_exits(graph, layout.starts, budget);
    for (size_t call = 0; call < layout.calls.size(); ++call) {
      call_of_[layout.calls[call].source] = static_cast<int32_t>(call);
    }
    for (const RuleEnd& end : layout.ends) exit_of_[end.state] = end.exit;
    for (const Detour& detour : layout.detours) detour_[detour.state] = detour.tokens;
    num_copies_.resize(layout.num_rules());
    charge();
    // The whole text ends in its only exit.
    wanted_.push(0);
    wanted_.push(0);
    wanted_.close();
  }

  ~LayoutCopies() { budget_.release(charged_); }
  LayoutCopies(const LayoutCopies&) = delete;
  LayoutCopies& operator=(const LayoutCopies&) = delete;

  // Add all copies, and transitively those that they call. Return whether they are exact and there is room for them.
  bool add_all() {
    const size_t most = kMaxTimes * num_bytes(layout_) + kMaxMore;
    for (int32_t copy = 0; copy < wanted_.size(); ++copy) {
      if (!add(copy)) return false;
      charge();
      if (charged_ > most || ++num_copies_[wanted_[copy][0]] > kMaxCopies) return false;
    }
    return true;
  }

  VisiblyPushdownLayout layout() && { return std::move(found_); }

 private:
  void charge() {
    const size_t taken = num_bytes(found_);
    budget_.charge(taken - charged_);
    charged_ = taken;
  }

  // Add the copy of a rule. Return false if that is not exact: which exits can be reached depends on the flags.
  bool add(int32_t copy) {
    const Vector<int32_t> key(wanted_[copy].begin(), wanted_[copy].end(), budget_);
    const int32_t start = layout_.starts[key[0]], first_exit = layout_.first_exit[key[0]];
    const std::span<const int32_t> exits = std::span(key).subspan(1);
    const Vector<int32_t> all = reached(start), kept = coaccessible_of(all, first_exit, exits);
    if (has_flags(all) && leaves_out_an_exit(key[0], exits)) return false;
    for (const int32_t state : all) local_[state] = kNone;
    // A rule has a start even if it has no text.
    local_[start] = found_.num_states++;
    for (const int32_t state : kept) {
      if (state != start) local_[state] = found_.num_states++;
    }
    found_.starts.push_back(local_[start]);
    for (const int32_t state : kept) add_state(state, first_exit, exits);
    found_.first_exit.push_back(found_.num_exits() + layout_.first_exit[key[0] + 1] - first_exit);
    for (const int32_t state : all) local_[state] = kNone;
    return true;
  }

  bool has_flags(std::span<const int32_t> states) const {
    return std::ranges::any_of(states, [&](int32_t state) {
      const auto links = from_[state];
      return !links.empty() && links_[links[0]].kind == Link::Kind::kGuarded;
    });
  }
  bool leaves_out_an_exit(int32_t rule, std::span<const int32_t> exits) const {
    const auto own = std::span(is_productive_).subspan(layout_.first_exit[rule]);
    const int32_t num_exits = layout_.first_exit[rule + 1] - layout_.first_exit[rule];
    return std::ranges::count(own.first(num_exits), true) > static_cast<int64_t>(exits.size());
  }

  // Return the states that can be reached from the start of a rule, with their places in `local_`.
  Vector<int32_t> reached(int32_t start) {
    Vector<int32_t> states(1, start, budget_);
    local_[start] = 0;
    const auto visit = [&](int32_t, int32_t target) {
      if (local_[target] != kNone) return;
      local_[target] = static_cast<int32_t>(states.size());
      states.push_back(target);
    };
    for (size_t at = 0; at < states.size(); ++at) each_from(states[at], visit);
    return states;
  }

  // Return those of some states that lead to one of the wanted exits.
  Vector<int32_t> coaccessible_of(const Vector<int32_t>& states, int32_t first_exit, std::span<const int32_t> exits) {
    Vector<Edge> edges(budget_);
    Vector<int32_t> goals(budget_), kept(budget_);
    const auto keep = [&](int32_t source, int32_t target) { edges.push_back({local_[source], local_[target]}); };
    for (const int32_t state : states) {
      each_from(state, keep);
      if (is_wanted(state, first_exit, exits)) goals.push_back(local_[state]);
    }
    const auto distance = distances(static_cast<int32_t>(states.size()), edges, std::span(goals), budget_);
    for (const int32_t state : states) {
      if (distance[local_[state]] != kNone) kept.push_back(state);
    }
    return kept;
  }

  // Call a function with a state and each state that follows it.
  template <class Visit>
  void each_from(int32_t state, const Visit& visit) {
    for (const int32_t link : from_[state]) visit(state, links_[link].target);
    if (call_of_[state] != kNone) {
      const Call& call = layout_.calls[call_of_[state]];
      const auto targets = layout_.targets_of(call);
      for (size_t exit = 0; exit < targets.size(); ++exit) {
        if (may_return(call, exit, targets)) visit(state, targets[exit]);
      }
    }
    budget_.spend(4 + static_cast<int64_t>(from_[state].size()));
  }
  bool may_return(const Call& call, size_t exit, std::span<const int32_t> targets) const {
    return targets[exit] != kNone && is_productive_[layout_.first_exit[call.rule] + exit];
  }
  bool is_wanted(int32_t state, int32_t first_exit, std::span<const int32_t> exits) const {
    return exit_of_[state] != kNone && std::ranges::binary_search(exits, exit_of_[state] - first_exit);
  }

  // Add what begins or ends in a state of a copy.
  void add_state(int32_t state, int32_t first_exit, std::span<const int32_t> exits) {
    for (const int32_t link : from_[state]) {
      const int32_t target = local_[links_[link].target];
      if (target != kNone) append(layout_, links_[link], local_[state], target, found_);
    }
    if (!detour_.empty() && detour_[state]) found_.detours.push_back({local_[state], detour_[state]});
    if (call_of_[state] != kNone) add_call(local_[state], layout_.calls[call_of_[state]]);
    if (is_wanted(state, first_exit, exits)) {
      found_.ends.push_back({local_[state], found_.num_exits() + exit_of_[state] - first_exit});
    }
    budget_.spend(8 + 4 * static_cast<int64_t>(from_[state].size()));
  }

  void add_call(int32_t source, const Call& call) {
    const auto targets = layout_.targets_of(call);
    const auto first_target = static_cast<int32_t>(found_.targets.size());
    wanted_.discard();
    wanted_.push(call.rule);
    for (size_t exit = 0; exit < targets.size(); ++exit) {
      const int32_t target = may_return(call, exit, targets) ? local_[targets[exit]] : kNone;
      found_.targets.push_back(target);
      if (target != kNone) wanted_.push(static_cast<int32_t>(exit));
    }
    found_.calls.push_back({source, wanted_.close().number, first_target});
  }

  const VisiblyPushdownLayout& layout_;
  const Vector<Link> links_;
  const support::Groups from_;  // links by source
  Vector<uint8_t> is_productive_;
  Vector<int32_t> call_of_, detour_, exit_of_;
  Vector<int32_t> local_;              // the place or the number of a state in the copy being made
  support::Interner<int32_t> wanted_;  // of each copy: the rule, and the wanted exits, ascending
  std::vector<int32_t> num_copies_;    // by rule
  VisiblyPushdownLayout found_;
  size_t charged_ = 0;
  Budget& budget_;
};

}  // namespace

std::optional<VisiblyPushdownLayout> by_wanted_exits(const VisiblyPushdownLayout& layout, Budget& budget) {
  LayoutCopies copies(layout, budget);
  if (!copies.add_all()) return std::nullopt;
  return std::move(copies).layout();
}

}  // namespace automata
