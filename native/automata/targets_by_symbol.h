// TargetsBySymbol: the targets of each symbol, gathered while one set of states is expanded, as linked lists that are
// emptied as they are read. The time depends on what was added, not on the number of symbols.
#pragma once

#include <algorithm>

#include "automata/arcs.h"

namespace automata {

template <class Target>
class TargetsBySymbol {
 public:
  TargetsBySymbol(int32_t num_symbols, Budget& budget)
      : first_(num_symbols, kNone, budget),
        links_(budget),
        met_(budget) {}

  void add(int32_t symbol, const Target& target) {
    if (first_[symbol] == kNone) met_.push_back(symbol);
    links_.push_back({target, first_[symbol]});
    first_[symbol] = static_cast<int32_t>(links_.size()) - 1;
  }
  // Call `each(symbol, targets)` for every symbol met; `targets(visit)` visits its targets, the last added first.
  template <class Each>
  void drain_ascending(Each each) {
    std::ranges::sort(met_);
    drain(each);
  }
  // Do the same in the order in which the symbols were met.
  template <class Each>
  void drain(Each each) {
    for (int32_t symbol : met_) {
      const int32_t head = first_[symbol];
      first_[symbol] = kNone;
      each(symbol, [&](auto visit) {
        for (int32_t link = head; link != kNone; link = links_[link].next) visit(links_[link].target);
      });
    }
    met_.clear();
    links_.clear();
  }

 private:
  struct Link {
    Target target;
    int32_t next;
  };
  Vector<int32_t> first_;  // by symbol
  Vector<Link> links_;
  Vector<int32_t> met_;
};

}  // namespace automata
