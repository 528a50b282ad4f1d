#include "automata/pushdown/construction.h"

#include <algorithm>

#include "automata/pushdown/determinizer.h"

namespace automata {

namespace {

template <class Values>
auto exact(const Values& values) {
  return std::vector(values.begin(), values.end());
}

// The rows of sets of elements, written one after the other.
void write_elements(const Stacks& stacks, std::span<const Element> elements, NumberRows& rows, Budget& budget) {
  for (const auto& [stack, state] : elements) {
    const Vector<int32_t> symbols = symbols_of(stacks, stack, budget);
    rows.numbers.push_back(static_cast<int32_t>(symbols.size()));
    rows.numbers.insert(rows.numbers.end(), symbols.begin(), symbols.end());
    rows.numbers.push_back(state);
  }
  rows.offsets.push_back(static_cast<int32_t>(rows.numbers.size()));
}

// The moves of each state alone.
Vector<PushdownMove> moves_of(const Determinizer& found, Budget& budget) {
  const support::Groups by_state = support::grouped(
      found.num_states(), found.groups.size(), [&](size_t g) { return found.groups[g].state; }, budget);
  Vector<PushdownMove> moves(budget);
  for (int32_t state = 0; state < found.num_states(); ++state) {
    const size_t begin = moves.size();
    for (int32_t g : by_state[state]) {
      const StepGroup& group = found.groups[g];
      const auto row = group.in_network ? found.places.row(group.leads) : std::span<const int32_t>();
      found.sets.visit(group.columns, [&](int32_t column) {
        const int32_t target = group.in_network ? found.state_of_place[row[column]] : group.leads;
        moves.push_back({state, column, group.pops, group.pushes, target});
      });
    }
    std::sort(moves.begin() + begin, moves.end());
    moves.erase(std::unique(moves.begin() + begin, moves.end()), moves.end());
    budget.spend(1 + 16 * static_cast<int64_t>(moves.size() - begin));
  }
  return moves;
}

// Which symbols may lie under what, by kinds, which are sets of rules.
class Kinds {
 public:
  Kinds(Determinizer& found, Budget& budget) : found_(found), budget_(budget), kinds_(budget), symbols_(budget) {
    for (int32_t number = 0; number < found.sequences.num_symbols(); ++number) {
      const int32_t symbol = found.sequences.symbol(number);
      symbols_.intern({&symbol, 1});
    }
  }

  int32_t of(std::span<const int32_t> rules) {
    budget_.spend(8);
    return kinds_.intern(rules).number;
  }
  void write_below(NumberRows& below) {
    Vector<int32_t> numbers(budget_);
    for (int32_t kind = 0; kind < kinds_.size(); ++kind) {
      numbers.clear();
      for (int32_t symbol : found_.under_all(kinds_[kind])) numbers.push_back(symbols_.intern({&symbol, 1}).number);
      std::ranges::sort(numbers);
      budget_.charge(sizeof(int32_t) * numbers.size());
      below.numbers.insert(below.numbers.end(), numbers.begin(), numbers.end());
      below.offsets.push_back(static_cast<int32_t>(below.numbers.size()));
    }
  }

 private:
  Determinizer& found_;
  Budget& budget_;
  support::Interner<int32_t> kinds_, symbols_;
};

// The headroom of an element.
int32_t needed(const Stacks& stacks, const Vector<int32_t>& room, Element element) {
  int32_t most = std::max(stacks[element.stack].height + room[element.state], 0);
  for (int32_t cell = element.stack; cell != Stacks::kEmpty; cell = stacks[cell].below) {
    most = std::max(most, stacks[cell].height - 1 + room[stacks[cell].symbol]);
  }
  return most;
}

template <class Some>
int32_t least_needed(const Stacks& stacks, const Vector<int32_t>& room, const Some& elements) {
  int32_t least = INT32_MAX;
  for (const Element& element : elements) least = std::min(least, needed(stacks, room, element));
  return least;
}

void write_states(Determinizer& found, Kinds& kinds, const Vector<int32_t>& room, Construction& result,
                  Budget& budget) {
  budget.charge(sizeof(int32_t) * (6 * static_cast<size_t>(found.num_states())));
  for (int32_t state = 0; state < found.num_states(); ++state) {
    const auto elements = found.elements(state);
    write_elements(found.stacks, elements, result.elements, budget);
    result.state_kind.push_back(kinds.of(found.lowest_rules(elements)));
    result.headroom.push_back(least_needed(found.stacks, room, elements));
  }
}

void write_symbols(Determinizer& found, Kinds& kinds, const Vector<int32_t>& room, Construction& result,
                   Budget& budget) {
  for (int32_t number = 0; number < found.sequences.num_symbols(); ++number) {
    const int32_t symbol = found.sequences.symbol(number);
    Elements elements(budget);
    for (int32_t stack : found.stacks_of(symbol)) {
      elements.push_back({found.stacks[stack].below, found.stacks[stack].symbol});
    }
    result.symbols.push_back(symbol);
    result.symbol_kind.push_back(kinds.of(found.rules_below(symbol)));
    result.symbol_headroom.push_back(least_needed(found.stacks, room, elements));
  }
}

}  // namespace

Construction construct(const RuleNetwork& network, const ConstructionOptions& options, Budget& budget) {
  Determinizer found(network, options, budget);
  found.run();
  Construction result;
  result.start = found.place(found.places.start(), kNone), result.end = found.place(found.places.end_state(), kNone);
  result.unbounded = found.unbounded, result.unbounded_state = found.unbounded_state;
  write_elements(found.stacks, found.unbounded_elements, result.unbounded_elements, budget);
  for (int32_t state = 0; state < found.places.num_states(); ++state) {
    result.rule_of.push_back(found.places.rule_of(state));
  }
  Kinds kinds(found, budget);
  {
    const Vector<int32_t> room = found.places.headrooms();
    write_states(found, kinds, room, result, budget);
    write_symbols(found, kinds, room, result, budget);
  }
  kinds.write_below(result.below);
  const Vector<PushdownMove> moves = moves_of(found, budget);
  budget.charge(sizeof(PushdownMove) * moves.size());
  result.moves = exact(moves), result.shared = exact(found.shared);
  result.came_from = exact(found.came_from), result.too_many = exact(found.too_many);
  result.parent = exact(found.sequences.parent), result.last = exact(found.sequences.last);
  return result;
}

std::vector<PushdownMove> with_shared(std::span<const PushdownMove> moves, std::span<const SharedMoves> shared,
                                      int32_t num_states, Budget& budget) {
  const support::Groups others =
      support::grouped(num_states, shared.size(), [&](size_t s) { return shared[s].state; }, budget);
  const support::Groups own =
      support::grouped(num_states, moves.size(), [&](size_t m) { return moves[m].state; }, budget);
  Vector<PushdownMove> found(budget);
  for (int32_t state = 0; state < num_states; ++state) {
    const size_t begin = found.size();
    for (int32_t move : own[state]) found.push_back(moves[move]);
    for (int32_t s : others[state]) {
      for (int32_t move : own[shared[s].other]) {
        found.push_back(moves[move]);
        found.back().state = state;
      }
    }
    std::sort(found.begin() + begin, found.end());
    found.erase(std::unique(found.begin() + begin, found.end()), found.end());
    budget.spend(1 + 16 * static_cast<int64_t>(found.size() - begin));
  }
  budget.charge(sizeof(PushdownMove) * found.size());
  return exact(found);
}

}  // namespace automata
