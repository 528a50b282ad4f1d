#include "automata/pushdown/coaccessible.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "support/count.h"
#include "support/value_interner.h"

namespace automata {

namespace {

// The symbol of an empty stack.
constexpr int32_t kBottom = -1;
// How many searches a round may take.
constexpr int kNumSearches = 6;
// The popped symbol of a move that pops none.
constexpr int32_t kNoSymbol = -2;

struct StateSymbol {
  int32_t state, symbol;
  bool operator==(const StateSymbol&) const = default;
};

struct StateReader {
  int32_t state, reader;
  bool operator==(const StateReader&) const = default;
};

// Linked lists that are read in the order of insertion.
template <class T>
class LinkedLists {
 public:
  explicit LinkedLists(Budget& budget) : lists_(budget), links_(budget) {}

  void add_lists(size_t count) { lists_.resize(lists_.size() + count, {kNone, kNone}); }
  void append(int32_t list, const T& value) {
    const int32_t link = support::as_count(links_.size());
    links_.push_back({value, kNone});
    (lists_[list].first == kNone ? lists_[list].first : links_[lists_[list].last].next) = link;
    lists_[list].last = link;
  }
  // Call `each(value)`, which may append to other lists.
  template <class Each>
  void visit(int32_t list, Each each) const {
    for (int32_t link = lists_[list].first; link != kNone; link = links_[link].next) {
      const T value = links_[link].value;
      each(value);
    }
  }

 private:
  struct List {
    int32_t first, last;
  };
  struct Link {
    T value;
    int32_t next;
  };
  Vector<List> lists_;
  Vector<Link> links_;
};

class Search {
 public:
  // `order` numbers the moves: what is found depends on the order in which they are read.
  Search(const Moves& moves, const Vector<uint8_t>& is_possibly_dead, const Vector<int32_t>& order, Budget& budget)
      : moves_(moves),
        is_possibly_dead_(is_possibly_dead),
        num_states_(static_cast<int32_t>(moves.state_kind.size())),
        first_cell_(budget),
        after_(budget),
        waiting_(budget),
        popped_(budget),
        readers_(budget),
        known_readers_(budget),
        popped_states_(budget),
        missing_(budget),
        todo_(budget),
        budget_(budget) {
    for (int32_t kind : moves.state_kind) add_state(kind);
    todo_.push_back({moves.end, kBottom, cell(moves.end, kBottom), moves.end});
    for (int32_t number : order) add(moves.moves[number]);
  }

  void run() {
    while (!todo_.empty()) {
      const Reached reached = todo_.back();
      todo_.pop_back();
      pop(reached);
    }
  }
  // Return whether such a text exists for each symbol under a state; if there are none, for the empty stack.
  bool completes(int32_t state) const { return missing_[state] == 0; }

 private:
  // Some text leads from `state` to `after`, having popped `symbol`.
  struct Reached {
    int32_t state, symbol, cell, after;
  };
  // The first `size` symbols of a sequence lie on the stack; once they are popped, `origin` has popped one symbol.
  struct Waiting {
    int32_t pushes, size, origin, popped;
  };
  struct Popped {
    int32_t symbol, state;
  };

  void add_state(int32_t kind) {
    popped_.add_lists(1);
    readers_.add_lists(1);
    const size_t num_tops = moves_.below_kind(kind).size();
    missing_.push_back(std::max<int32_t>(1, static_cast<int32_t>(num_tops)));
    first_cell_.push_back(support::as_count(after_.size()));
    after_.resize(after_.size() + num_tops + 1, kNone);
    waiting_.add_lists(num_tops + 1);
  }
  std::span<const int32_t> tops_of(int32_t state) const {
    const bool is_own = state >= num_states_;
    return moves_.below_kind(is_own ? moves_.symbol_kind[popped_states_[state - num_states_].symbol]
                                    : moves_.state_kind[state]);
  }
  // Return the cell of a state and a symbol, or kNone if the symbol never lies directly under the state. The bottom has
  // a cell under every state.
  int32_t cell(int32_t state, int32_t symbol) const {
    const auto tops = tops_of(state);
    const auto num_tops = static_cast<int32_t>(tops.size());
    if (symbol == kBottom) return first_cell_[state] + num_tops;
    if (tops.empty() || symbol < tops.front()) return kNone;
    int32_t rank = symbol - tops.front();  // most lists are a run of numbers
    if (rank >= num_tops || tops[rank] != symbol) {
      rank = static_cast<int32_t>(std::ranges::lower_bound(tops, symbol) - tops.begin());
      if (rank == num_tops || tops[rank] != symbol) return kNone;
    }
    return first_cell_[state] + rank;
  }

  void add(const Move& move) {
    const auto pops = moves_.sequences[move.pops];
    int32_t state = move.state;
    for (size_t place = 0; place + 1 < pops.size(); ++place) state = popping(state, pops[place]);
    const auto size = static_cast<int32_t>(moves_.sequences[move.pushes].size());
    follow({move.pushes, size, state, pops.empty() ? kNoSymbol : pops.back()}, move.target);
  }
  // Return the separate state for a state that has popped a symbol.
  int32_t popping(int32_t state, int32_t symbol) {
    const auto [number, is_new] = popped_states_.intern({state, symbol});
    if (is_new) add_state(moves_.symbol_kind[symbol]);
    return num_states_ + number;
  }
  // Follow a move until the symbols that it pushed are popped, or until a text for one of them is unknown.
  void follow(Waiting move, int32_t at) {
    budget_.spend(8);
    for (; move.size > 0; --move.size) {
      budget_.spend(2);
      const int32_t pushed = cell(at, moves_.sequences[move.pushes][move.size - 1]);
      if (pushed == kNone) return;
      if (after_[pushed] == kNone) {
        waiting_.append(pushed, move);
        return;
      }
      at = after_[pushed];
    }
    if (move.popped == kNoSymbol) {
      if (!known_readers_.intern({at, move.origin}).is_new) return;
      readers_.append(at, move.origin);
      popped_.visit(at, [&](const Popped& known) { reach(move.origin, known.symbol, known.state); });
    } else if (!is_possibly_dead(at)) {
      reach(move.origin, move.popped, at);
    }
  }
  // Let a text pop a symbol under a state, unless the symbol never lies there or another text does.
  void reach(int32_t state, int32_t symbol, int32_t after) {
    budget_.spend(4);
    const int32_t number = cell(state, symbol);
    if (number != kNone && after_[number] == kNone) todo_.push_back({state, symbol, number, after});
  }
  bool is_possibly_dead(int32_t state) const { return state < num_states_ && is_possibly_dead_[state]; }

  void pop(const Reached& reached) {
    const auto [state, symbol, number, after] = reached;
    if (after_[number] != kNone) return;
    after_[number] = after;
    popped_.append(state, {symbol, after});
    const bool was_missing = symbol != kBottom || tops_of(state).empty();
    missing_[state] -= was_missing;
    budget_.spend(8);
    readers_.visit(state, [&](int32_t reader) { reach(reader, symbol, after); });
    waiting_.visit(number,
                   [&](const Waiting& move) { follow({move.pushes, move.size - 1, move.origin, move.popped}, after); });
    if (state >= num_states_ && was_missing && completes(state)) {
      const StateSymbol whole = popped_states_[state - num_states_];
      reach(whole.state, whole.symbol, state);
    }
  }

  const Moves& moves_;
  const Vector<uint8_t>& is_possibly_dead_;
  const int32_t num_states_;
  // States have a cell for each symbol that may lie under them, and one for the bottom.
  Vector<int32_t> first_cell_;    // by state
  Vector<int32_t> after_;         // by cell, the state that follows the symbol, or kNone
  LinkedLists<Waiting> waiting_;  // by cell, the moves that wait for it
  LinkedLists<Popped> popped_;    // by state, the symbols that have been popped, and the states after
  LinkedLists<int32_t> readers_;  // by state, the states that pop whatever it pops
  support::ValueInterner<StateReader> known_readers_;
  support::ValueInterner<StateSymbol> popped_states_;  // of each separate state, the state and what it has popped
  Vector<int32_t> missing_;  // by state, how many of the symbols under it have not been popped
  Vector<Reached> todo_;
  Budget& budget_;
};

// Return whether each state is completed by none of the searches of a round.
Vector<uint8_t> not_completed(const Moves& moves, const Vector<uint8_t>& is_possibly_dead, Budget& budget) {
  const auto num_states = static_cast<int32_t>(moves.state_kind.size());
  Vector<uint8_t> found(num_states, true, budget);
  found[moves.end] = false;
  Vector<int32_t> order(moves.moves.size(), 0, budget);
  std::iota(order.begin(), order.end(), 0);
  std::minstd_rand random;
  for (int search_number = 0; search_number < kNumSearches; ++search_number) {
    Search search(moves, is_possibly_dead, order, budget);
    search.run();
    bool some_new = false;
    for (int32_t state = 0; state < num_states; ++state) {
      found[state] = found[state] && !search.completes(state);
      some_new |= found[state] && !is_possibly_dead[state];
    }
    budget.spend(8 * static_cast<int64_t>(num_states) + std::ssize(order));
    if (!some_new) break;
    // The second search reads the moves backwards, the others at random.
    if (search_number == 0) {
      std::ranges::reverse(order);
    } else {
      for (size_t size = order.size(); size > 1; --size) std::swap(order[size - 1], order[random() % size]);
    }
  }
  return found;
}

}  // namespace

Vector<uint8_t> possibly_dead_states(const Moves& moves, Budget& budget) {
  const auto num_states = static_cast<int32_t>(moves.state_kind.size());
  Vector<uint8_t> is_possibly_dead(num_states, false, budget);
  for (;;) {
    Vector<uint8_t> found = not_completed(moves, is_possibly_dead, budget);
    bool some_new = false;
    for (int32_t state = 0; state < num_states; ++state) {
      some_new |= found[state] && !is_possibly_dead[state];
      is_possibly_dead[state] |= found[state];
    }
    if (!some_new) return found;
  }
}

}  // namespace automata
