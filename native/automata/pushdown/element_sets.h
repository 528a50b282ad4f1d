// Sets of elements, each a local stack and a state: what their stacks have in common, and whether they are a product.
#pragma once

#include <optional>
#include <span>

#include "automata/pushdown/stacks.h"

namespace automata {

struct Element {
  int32_t stack;  // a cell: symbols from the bottom up
  int32_t state;
  bool operator==(const Element&) const = default;
};

using Elements = Vector<Element>;

// The symbols of a stack from the bottom up.
Vector<int32_t> symbols_of(const Stacks& stacks, int32_t stack, Budget& budget);

// The symbol at the bottom of a stack that is not empty.
int32_t bottom_of(const Stacks& stacks, int32_t stack);

// One stack on another.
int32_t stack_on(Stacks& stacks, int32_t below, int32_t above, Budget& budget);

// Sorts elements by the symbols of their stacks, the lowest first, and then by state; each is kept once.
void sort_unique(const Stacks& stacks, Elements& elements, Budget& budget);

// What all stacks begin with, and the elements without it, in order.
struct WithoutCommon {
  int32_t common;  // a cell
  Elements elements;
};
WithoutCommon without_common(Stacks& stacks, Elements elements, Budget& budget);

// A set as a product: any of some stacks, and above each of them the same, of which `above` has the common part.
struct Product {
  Vector<int32_t> stacks;  // cells, in order
  WithoutCommon above;
};
std::optional<Product> factored(Stacks& stacks, const Elements& elements, Budget& budget);

}  // namespace automata
