#include "automata/visibly_pushdown/headroom.h"

#include <algorithm>

#include "automata/distance.h"
#include "automata/pushdown/headroom.h"

namespace automata {

namespace {

// The states around a call, by symbol: `begins` after it was pushed, `returns` after each exit, or kNone.
struct CallTargets {
  Vector<int32_t> begins;            // [S]
  support::Matrix<int32_t> returns;  // [S, M]
};

CallTargets call_targets(const AssembledStates& states, Budget& budget) {
  CallTargets found{Vector<int32_t>(budget), states.returns};
  for (size_t symbol = 0; symbol < states.symbols.size(); ++symbol) {
    found.begins.push_back(states.number[states.rule_start[states.symbols[symbol].callee]]);
    for (int32_t& after : found.returns[symbol]) {
      if (after != kNone) after = states.number[after];
    }
  }
  return found;
}

// Paths from states to exits, by height.
class ExitPaths {
 public:
  ExitPaths(int32_t num_states, const AssembledSteps& steps, const CallTargets& call_targets, Budget& budget)
      : num_states_(num_states),
        num_exits_(static_cast<int32_t>(call_targets.returns.columns())),
        steps_(steps),
        call_targets_(call_targets),
        before_(entering(num_states, steps.edges, budget)),
        pushing_(entering(static_cast<int32_t>(call_targets.begins.size()), steps.calls, budget)),
        returning_(support::grouped(
            num_states + 1, call_targets.returns.values().size(),
            [&](size_t cell) { return call_targets.returns.values()[cell] + 1; }, budget)),
        room_(static_cast<size_t>(num_states) * num_exits_, kNone, budget),
        found_(budget),
        allowed_(call_targets.begins.size(), true, budget),
        budget_(budget) {
    for (const RuleEnd& end : steps.ends) find(end.state, end.exit, 0);
  }

  void find_all() {
    size_t settled = 0;
    for (int32_t height = 0; height == 0 || settled < found_.size(); ++height) {
      if (height) settled = found_.size();
      while (true) {
        find_height(height);
        if (height == 0 || !take_out()) break;
        for (size_t at = settled; at < found_.size(); ++at) room_[cell(found_[at])] = kNone;
        found_.resize(settled);
      }
      std::ranges::fill(allowed_, true);
    }
  }
  // Return the least room of the paths of a state.
  int32_t least(int32_t state) const {
    int32_t least = kNone;
    for (int32_t exit = 0; exit < num_exits_; ++exit) {
      const int32_t known = room_[cell({state, exit})];
      if (known != kNone && (least == kNone || known < least)) least = known;
    }
    return least;
  }

 private:
  size_t cell(RuleEnd end) const { return static_cast<size_t>(end.state) * num_exits_ + end.exit; }
  void find(int32_t state, int32_t exit, int32_t height) {
    if (room_[cell({state, exit})] != kNone) return;
    room_[cell({state, exit})] = height;
    found_.push_back({state, exit});
  }
  void find_height(int32_t height) {
    for (size_t at = 0; at < found_.size(); ++at) {
      const auto [state, exit] = found_[at];
      for (int32_t edge : before_[state]) find(steps_.edges[edge].source, exit, height);
      for (int32_t cell_of_return : returning_[state + 1]) {
        const int32_t symbol = cell_of_return / num_exits_, ended = cell_of_return % num_exits_;
        const int32_t inside = room_[cell({call_targets_.begins[symbol], ended})];
        if (!allowed_[symbol] || inside == kNone || inside >= height) continue;
        for (int32_t call : pushing_[symbol]) find(steps_.calls[call].source, exit, height);
        budget_.spend(static_cast<int64_t>(pushing_[symbol].size()));
      }
      budget_.spend(2 + static_cast<int64_t>(before_[state].size() + returning_[state + 1].size()));
    }
  }
  // Disallow symbols after which some continuation has no path yet; return whether there were any.
  bool take_out() {
    bool some = false;
    for (size_t symbol = 0; symbol < allowed_.size(); ++symbol) {
      const auto lost = [&](int32_t after) { return after != kNone && least(after) == kNone; };
      if (!allowed_[symbol] || std::ranges::none_of(call_targets_.returns[symbol], lost)) continue;
      allowed_[symbol] = false, some = true;
    }
    budget_.spend(static_cast<int64_t>(call_targets_.returns.values().size()));
    return some;
  }

  const int32_t num_states_, num_exits_;
  const AssembledSteps& steps_;
  const CallTargets& call_targets_;
  const support::Groups before_, pushing_, returning_;  // edges, calls and cells of `returns`, by target
  Vector<int32_t> room_;                                // [N, M]
  Vector<RuleEnd> found_;                               // in order of height
  Vector<uint8_t> allowed_;                             // [S]
  Budget& budget_;
};

Vector<int32_t> by_state_with_one_exit(int32_t num_states, const AssembledSteps& steps, const CallTargets& call_targets,
                                       Budget& budget) {
  Vector<PushingCall> calls(budget);
  for (const Edge& call : steps.calls) {
    const int32_t back = call_targets.returns[call.target][0];
    if (back != kNone) calls.push_back({call.source, call_targets.begins[call.target], back, 1});
  }
  return headrooms(num_states, steps.edges, calls, std::views::transform(steps.ends, &RuleEnd::state), budget);
}

Vector<int32_t> by_state(int32_t num_states, const AssembledSteps& steps, const CallTargets& call_targets,
                         Budget& budget) {
  if (call_targets.returns.columns() == 1) return by_state_with_one_exit(num_states, steps, call_targets, budget);
  ExitPaths paths(num_states, steps, call_targets, budget);
  paths.find_all();
  Vector<int32_t> room(budget);
  for (int32_t state = 0; state < num_states; ++state) room.push_back(paths.least(state));
  return room;
}

}  // namespace

ExitHeadroom headrooms(const AssembledStates& states, const AssembledSteps& steps, Budget& budget) {
  const CallTargets follows = call_targets(states, budget);
  const auto num_states = static_cast<int32_t>(states.states.size());
  ExitHeadroom found{by_state(num_states, steps, follows, budget), Vector<int32_t>(budget)};
  for (int32_t& room : found.of_state) room = std::max(room, 0);
  for (size_t symbol = 0; symbol < states.symbols.size(); ++symbol) {
    int32_t most = 0;
    for (int32_t after : follows.returns[symbol]) {
      if (after != kNone) most = std::max(most, found.of_state[after]);
    }
    found.of_symbol.push_back(most);
  }
  return found;
}

}  // namespace automata
