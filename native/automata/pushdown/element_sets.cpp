#include "automata/pushdown/element_sets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "automata/pushdown/number_lists.h"

namespace automata {

namespace {

// Return the cell of a stack at a given height, at most its own.
int32_t down_to(const Stacks& stacks, int32_t stack, int32_t height) {
  while (stacks[stack].height > height) stack = stacks[stack].below;
  return stack;
}

// Return whether one stack comes before another, comparing symbols from the bottom up: by the first symbols above the
// last cell that they share.
bool is_before(const Stacks& stacks, int32_t left, int32_t right, Budget& budget) {
  const int32_t left_height = stacks[left].height, right_height = stacks[right].height;
  left = down_to(stacks, left, right_height), right = down_to(stacks, right, left_height);
  budget.spend(4 + std::max(left_height, right_height));
  if (left == right) return left_height < right_height;
  while (stacks[left].below != stacks[right].below) left = stacks[left].below, right = stacks[right].below;
  return stacks[left].symbol < stacks[right].symbol;
}

// Return a stack without its lowest `height` symbols.
int32_t without_lowest(Stacks& stacks, int32_t stack, int32_t height, Budget& budget) {
  const Vector<int32_t> symbols = symbols_of(stacks, stack, budget);
  int32_t found = Stacks::kEmpty;
  for (size_t at = height; at < symbols.size(); ++at) found = stacks.push(symbols[at], found);
  return found;
}

// Return the stacks of the state that has the fewest of them, and of such states the one that comes first.
Vector<int32_t> fewest_stacks(const Elements& elements, Budget& budget) {
  Vector<int32_t> order(elements.size(), budget), stacks(budget);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int32_t at) { return std::pair(elements[at].state, at); });
  std::span<const int32_t> fewest;
  for (std::span<const int32_t> left = order; !left.empty();) {
    const auto is_other = [&](int32_t at) { return elements[at].state != elements[left[0]].state; };
    const auto own = left.first(std::ranges::find_if(left, is_other) - left.begin());
    const auto rank = [](std::span<const int32_t> some) { return std::pair(some.size(), some[0]); };
    if (fewest.empty() || rank(own) < rank(fewest)) fewest = own;
    left = left.subspan(own.size());
  }
  for (int32_t at : fewest) stacks.push_back(elements[at].stack);
  budget.spend(16 * static_cast<int64_t>(elements.size()));
  return stacks;
}

// Return the number of symbols that some stacks have in common at their tops, such that each keeps at least one other
// symbol.
int32_t common_above(const Stacks& stacks, const Vector<int32_t>& some) {
  int32_t least = stacks[some[0]].height;
  for (int32_t stack : some) least = std::min(least, stacks[stack].height);
  int32_t size = 0;
  Vector<int32_t> tops = some;
  while (size < least - 1) {
    const auto same = [&](int32_t top) { return stacks[top].symbol == stacks[tops[0]].symbol; };
    if (!std::ranges::all_of(tops, same)) break;
    for (int32_t& top : tops) top = stacks[top].below;
    ++size;
  }
  return size;
}

// Return the elements above any of some stacks, which are sorted by number; nothing if some element has none of them
// below it.
std::optional<Elements> above_any(Stacks& stacks, const Elements& elements, const Vector<int32_t>& below,
                                  Budget& budget) {
  Elements above(budget);
  for (const auto& [stack, state] : elements) {
    const size_t before = above.size();
    for (int32_t low = stack; low != Stacks::kEmpty; low = stacks[low].below) {
      if (!std::ranges::binary_search(below, low)) continue;
      above.push_back({without_lowest(stacks, stack, stacks[low].height, budget), state});
    }
    if (above.size() == before) return std::nullopt;
  }
  sort_unique(stacks, above, budget);
  return above;
}

// Return whether every combination of a stack and an element above it is an element of the set.
bool is_product(Stacks& stacks, const Elements& elements, const Vector<int32_t>& below, const Elements& above,
                Budget& budget) {
  const auto number = [](const Element& element) { return std::pair(element.stack, element.state); };
  Elements known = elements;
  std::ranges::sort(known, {}, number);
  for (int32_t low : below) {
    for (const auto& [stack, state] : above) {
      const Element together{stack_on(stacks, low, stack, budget), state};
      if (!std::ranges::binary_search(known, number(together), {}, number)) return false;
    }
  }
  return true;
}

}  // namespace

Vector<int32_t> symbols_of(const Stacks& stacks, int32_t stack, Budget& budget) {
  Vector<int32_t> symbols(stacks[stack].height, budget);
  for (auto place = symbols.rbegin(); place != symbols.rend(); ++place) {
    *place = stacks[stack].symbol;
    stack = stacks[stack].below;
  }
  budget.spend(1 + static_cast<int64_t>(symbols.size()));
  return symbols;
}

int32_t bottom_of(const Stacks& stacks, int32_t stack) { return stacks[down_to(stacks, stack, 1)].symbol; }

int32_t stack_on(Stacks& stacks, int32_t below, int32_t above, Budget& budget) {
  if (below == Stacks::kEmpty || above == Stacks::kEmpty) return below == Stacks::kEmpty ? above : below;
  for (int32_t symbol : symbols_of(stacks, above, budget)) below = stacks.push(symbol, below);
  return below;
}

void sort_unique(const Stacks& stacks, Elements& elements, Budget& budget) {
  std::ranges::sort(elements, [&](const Element& left, const Element& right) {
    return left.stack == right.stack ? left.state < right.state : is_before(stacks, left.stack, right.stack, budget);
  });
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
}

WithoutCommon without_common(Stacks& stacks, Elements elements, Budget& budget) {
  sort_unique(stacks, elements, budget);
  if (elements.size() == 1) {
    const int32_t common = std::exchange(elements[0].stack, Stacks::kEmpty);
    return {common, std::move(elements)};
  }
  // The common part of the first and the last stack is common to all that lie between them.
  int32_t low = elements.front().stack, high = elements.back().stack;
  const int32_t height = std::min(stacks[low].height, stacks[high].height);
  low = down_to(stacks, low, height), high = down_to(stacks, high, height);
  while (low != high) low = stacks[low].below, high = stacks[high].below;
  if (low == Stacks::kEmpty) return {low, std::move(elements)};
  for (Element& element : elements) element.stack = without_lowest(stacks, element.stack, stacks[low].height, budget);
  return {low, std::move(elements)};
}

std::optional<StackProduct> factored(Stacks& stacks, const Elements& elements, Budget& budget) {
  Vector<int32_t> below = fewest_stacks(elements, budget);
  if (below.size() < 2 || std::ranges::find(below, Stacks::kEmpty) != below.end()) return std::nullopt;
  const int32_t size = common_above(stacks, below);
  for (int32_t& stack : below) stack = down_to(stacks, stack, stacks[stack].height - size);
  sort_unique(below);
  std::optional<Elements> above = above_any(stacks, elements, below, budget);
  if (!above || !is_product(stacks, elements, below, *above, budget)) return std::nullopt;
  std::ranges::sort(below, [&](int32_t left, int32_t right) { return is_before(stacks, left, right, budget); });
  return StackProduct{std::move(below), without_common(stacks, std::move(*above), budget)};
}

}  // namespace automata
