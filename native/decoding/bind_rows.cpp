// Bindings of the tables made from rows when an automaton enters the arena.
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "decoding/bindings.h"
#include "decoding/comb.h"
#include "decoding/row_masks.h"

namespace decoding {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using support::Budget;

SparseRows rows_of(Values<int64_t> offsets, Values<int64_t> numbers, Values<int64_t> outcomes, int32_t num_classes) {
  require(num_classes > 0, "there is a class at least");
  require_countable(numbers.size(), "`number`");
  require(!offsets.empty(), "there are no offsets");
  require_countable(offsets.size(), "`offsets`");
  require_offsets(offsets, offsets.size() - 1, numbers.size(), "`offsets`");
  require(numbers.size() == outcomes.size(), "every class has an outcome");
  require_within(numbers, 0, num_classes, "class");
  require_within(outcomes, 0, INT32_MAX, "outcome");
  const SparseRows rows{offsets, numbers, outcomes, num_classes};
  for (int32_t row = 0; row < rows.size(); ++row) {
    const auto own = rows.classes(row);
    for (size_t at = 1; at < own.size(); ++at) {
      require(own[at - 1] < own[at], [&] { return "the classes of row " + std::to_string(row) + " do not ascend"; });
    }
  }
  return rows;
}

auto comb_of(Values<int64_t> offsets, Values<int64_t> number, Values<int64_t> outcome, int32_t num_classes,
             Budget& budget) {
  const SparseRows rows = rows_of(offsets, number, outcome, num_classes);
  Comb found = unlocked([&] { return comb(rows, budget); });
  return std::make_tuple(array(std::move(found.base)), bindings::records(found.entries));
}

auto row_masks_of(Values<int64_t> offsets, Values<int64_t> number, Values<int64_t> outcome, Values<int32_t> token_class,
                  int32_t num_classes, int64_t begin, int64_t end, Budget& budget) {
  const SparseRows rows = rows_of(offsets, number, outcome, num_classes);
  require_countable(token_class.size(), "`token_class`");
  require_within(token_class, 0, num_classes, "class");
  require(0 <= begin && begin < end && end < INT32_MAX,
          [&] { return "there are no tokens from " + std::to_string(begin) + " to " + std::to_string(end); });
  RowMasks found = unlocked([&] { return row_masks(rows, token_class, begin, end, budget); });
  const size_t num_chunks = (static_cast<size_t>(end - begin) + kChunkTokens - 1) / kChunkTokens;
  return std::make_tuple(array(std::move(found.mask_of_row)),
                         grid(found.chunks_of_mask, found.chunks_of_mask.size() / num_chunks, num_chunks),
                         bindings::records(found.chunks), array(std::move(found.forced)));
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("comb", &comb_of, "offsets"_a, "number"_a, "outcome"_a, "num_classes"_a, "budget"_a,
        "Return where sparse rows begin in one table, `[E]`, and the table, row and outcome, `[.., 2]`.");
  m.def("row_masks", &row_masks_of, "offsets"_a, "number"_a, "outcome"_a, "token_class"_a, "num_classes"_a, "begin"_a,
        "end"_a, "budget"_a,
        "Return the mask of each row, the chunks of each mask, the chunks, and the only token of each row.");
}

}  // namespace decoding
