#include "automata/pushdown/construction.h"

#include <algorithm>
#include <stdexcept>

#include "automata/pushdown/determinizer.h"

namespace automata {

namespace {

using support::charged_copy;

// Rows of numbers while they are written.
struct RowsWriter {
  explicit RowsWriter(Budget& budget) : offsets(1, 0, budget), numbers(budget) {}

  void end_row() {
    if (numbers.size() > INT32_MAX) throw std::length_error("there are more numbers than 32 bits can count");
    offsets.push_back(static_cast<int32_t>(numbers.size()));
  }

  Vector<int32_t> offsets, numbers;
};

NumberRows charged_copy(const RowsWriter& rows, Budget& budget) {
  return {charged_copy(rows.offsets, budget), charged_copy(rows.numbers, budget)};
}

void write_elements(const Stacks& stacks, std::span<const Element> elements, RowsWriter& rows, Budget& budget) {
  for (const auto& [stack, state] : elements) {
    const Vector<int32_t> symbols = symbols_of(stacks, stack, budget);
    rows.numbers.push_back(static_cast<int32_t>(symbols.size()));
    rows.numbers.insert(rows.numbers.end(), symbols.begin(), symbols.end());
    rows.numbers.push_back(state);
  }
  rows.end_row();
}

// Sort the values from `begin` on and remove duplicates. There may be millions, so comparisons are charged.
template <class T>
void sort_unique_from(Vector<T>& values, size_t begin, Budget& budget) {
  const auto first = values.begin() + static_cast<ptrdiff_t>(begin);
  std::sort(first, values.end(), [&](const T& left, const T& right) {
    budget.spend(2);
    return left < right;
  });
  values.erase(std::unique(first, values.end()), values.end());
}

// Return the steps of each state without shared ones.
Vector<ColumnStep> steps_of(const Determinizer& found, Budget& budget) {
  const support::Groups by_state = support::grouped(
      found.num_states(), found.groups.size(), [&](size_t g) { return found.groups[g].state; }, budget);
  Vector<ColumnStep> steps(budget);
  for (int32_t state = 0; state < found.num_states(); ++state) {
    const size_t begin = steps.size();
    for (int32_t g : by_state[state]) {
      const StepGroup& group = found.groups[g];
      const auto row = group.in_network ? found.network.row(group.leads) : std::span<const int32_t>();
      found.sets.visit(group.columns, [&](int32_t column) {
        const int32_t target = group.in_network ? found.state_of_single[row[column]] : group.leads;
        steps.push_back({state, column, group.pops, group.pushes, target});
      });
      budget.spend(found.sets.num_columns());
    }
    sort_unique_from(steps, begin, budget);
  }
  return steps;
}

// Finds which symbols may lie under states and symbols, and the headroom.
class StackContents {
 public:
  StackContents(Determinizer& found, Budget& budget)
      : found_(found),
        budget_(budget),
        room_(found.network.headrooms()),
        kinds_(budget),
        symbols_(budget) {}

  // The contents of symbols come before those of states.
  void write_symbols(PushdownConstruction& result) {
    Vector<int32_t> kind(budget_), headroom(budget_);
    for (int32_t number = 0; number < found_.sequences.num_symbols(); ++number) {
      const int32_t symbol = found_.sequences.symbol(number);
      symbols_.intern(symbol);
      kind.push_back(kinds_.intern(found_.rules_below(symbol)).number);
      headroom.push_back(least_needed(found_.elements_of(symbol)));
    }
    result.symbol_kind = charged_copy(kind, budget_), result.symbol_headroom = charged_copy(headroom, budget_);
  }
  void write_states(PushdownConstruction& result) {
    Vector<int32_t> kind(budget_), headroom(budget_);
    RowsWriter elements(budget_);
    for (int32_t state = 0; state < found_.num_states(); ++state) {
      const auto own = found_.elements(state);
      write_elements(found_.stacks, own, elements, budget_);
      kind.push_back(kinds_.intern(found_.lowest_rules(own)).number);
      headroom.push_back(least_needed(own));
    }
    result.elements = charged_copy(elements, budget_);
    result.state_kind = charged_copy(kind, budget_), result.headroom = charged_copy(headroom, budget_);
  }
  void write_below(PushdownConstruction& result) {
    RowsWriter below(budget_);
    for (int32_t kind = 0; kind < kinds_.size(); ++kind) {
      for (int32_t symbol : found_.under_all(kinds_[kind])) below.numbers.push_back(symbols_.intern(symbol).number);
      std::sort(below.numbers.begin() + below.offsets.back(), below.numbers.end());
      below.end_row();
    }
    result.below = charged_copy(below, budget_);
  }

 private:
  int32_t needed(Element element) const {
    const Stacks& stacks = found_.stacks;
    int32_t most = std::max(stacks[element.stack].height + room_[element.state], 0);
    for (int32_t cell = element.stack; cell != Stacks::kEmpty; cell = stacks[cell].below) {
      most = std::max(most, stacks[cell].height - 1 + room_[stacks[cell].symbol]);
    }
    return most;
  }
  int32_t least_needed(std::span<const Element> elements) const {
    int32_t least = INT32_MAX;
    for (const Element& element : elements) least = std::min(least, needed(element));
    budget_.spend(4 + 4 * static_cast<int64_t>(elements.size()));
    return least;
  }

  Determinizer& found_;
  Budget& budget_;
  const Vector<int32_t> room_;
  support::Interner<int32_t> kinds_;  // sets of rules
  support::ValueInterner<int32_t> symbols_;
};

}  // namespace

PushdownConstruction construct(const RuleNetwork& network, const ConstructionOptions& options, Budget& budget) {
  Determinizer found(network, options, budget);
  found.run();
  PushdownConstruction result;
  result.start = found.place(found.network.start(), kNone), result.end = found.place(found.network.end_state(), kNone);
  result.unbounded = found.unbounded, result.unbounded_state = found.unbounded_state;
  RowsWriter elements(budget);
  write_elements(found.stacks, found.unbounded_elements, elements, budget);
  result.unbounded_elements = charged_copy(elements, budget);
  {
    StackContents contents(found, budget);
    contents.write_symbols(result), contents.write_states(result), contents.write_below(result);
  }
  result.steps = charged_copy(steps_of(found, budget), budget), result.shared = charged_copy(found.shared, budget);
  result.came_from = charged_copy(found.came_from, budget), result.too_many = charged_copy(found.too_many, budget);
  result.parent = charged_copy(found.sequences.parent, budget),
  result.last = charged_copy(found.sequences.last, budget);
  result.rule_of = charged_copy(found.network.rules(), budget);
  return result;
}

std::vector<ColumnStep> with_shared(std::span<const ColumnStep> steps, std::span<const SharedSteps> shared,
                                    int32_t num_states, Budget& budget) {
  const support::Groups others =
      support::grouped(num_states, shared.size(), [&](size_t s) { return shared[s].state; }, budget);
  const support::Groups own =
      support::grouped(num_states, steps.size(), [&](size_t s) { return steps[s].state; }, budget);
  Vector<ColumnStep> found(budget);
  for (int32_t state = 0; state < num_states; ++state) {
    const size_t begin = found.size();
    for (int32_t step : own[state]) found.push_back(steps[step]);
    for (int32_t s : others[state]) {
      for (int32_t step : own[shared[s].other]) {
        found.push_back(steps[step]);
        found.back().state = state;
        budget.spend(1);
      }
    }
    sort_unique_from(found, begin, budget);
  }
  return charged_copy(found, budget);
}

std::vector<Move> moves_of(std::span<const ColumnStep> steps, Budget& budget) {
  Vector<Move> moves(budget);
  while (!steps.empty()) {
    const size_t begin = moves.size();
    const int32_t state = steps[0].state;
    size_t count = 0;
    for (; count < steps.size() && steps[count].state == state; ++count) {
      const auto& [_, column, pops, pushes, target] = steps[count];
      moves.push_back({state, pops, pushes, target});
      budget.spend(1);
    }
    sort_unique_from(moves, begin, budget);
    steps = steps.subspan(count);
  }
  return charged_copy(moves, budget);
}

}  // namespace automata
