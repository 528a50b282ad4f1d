// Sets of elements, each a local stack and a state: the common part of their stacks, and whether they are a product.
#pragma once

#include <optional>

#include "automata/pushdown/stacks.h"

namespace automata {

struct Element {
  int32_t stack;  // a cell: symbols from the bottom up
  int32_t state;
  bool operator==(const Element&) const = default;
};

using Elements = Vector<Element>;

// Return the symbols of a stack from the bottom up.
Vector<int32_t> symbols_of(const Stacks& stacks, int32_t stack, Budget& budget);

// Return the bottom symbol of a non-empty stack.
int32_t bottom_of(const Stacks& stacks, int32_t stack);

// Put one stack on another.
int32_t stack_on(Stacks& stacks, int32_t below, int32_t above, Budget& budget);

// Sort elements by the symbols of their stacks, from the bottom up, and then by state, and remove duplicates.
void sort_unique(const Stacks& stacks, Elements& elements, Budget& budget);

// The common bottom part of all stacks, and the elements without it, in order.
struct WithoutCommon {
  int32_t common;  // a cell
  Elements elements;
};
WithoutCommon without_common(Stacks& stacks, Elements elements, Budget& budget);

// A set as a product: any of some stacks, with the same elements above each of them; `above` has their common part.
struct StackProduct {
  Vector<int32_t> stacks;  // cells, in order
  WithoutCommon above;
};
std::optional<StackProduct> factored(Stacks& stacks, const Elements& elements, Budget& budget);

}  // namespace automata
