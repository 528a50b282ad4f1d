// Bindings of the tables made from rows when an automaton enters the arena.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "decoding/bindings.h"
#include "decoding/comb.h"
#include "decoding/pushdown_rows.h"
#include "decoding/row_masks.h"

namespace decoding {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using support::Budget;

SparseRows rows_of(Values<int32_t> offsets, Records<RowEdge> edges, Values<int32_t> first, int32_t num_classes) {
  require(num_classes > 0, "there is a class at least");
  require_countable(edges.size(), "`edges`");
  require(!offsets.empty(), "there are no offsets");
  require_countable(offsets.size(), "`offsets`");
  require_offsets(offsets, offsets.size() - 1, edges.size(), "`offsets`");
  require(first.size() == offsets.size(), "every family has a first row");
  require_offsets(first, offsets.size() - 1, static_cast<size_t>(std::max(first.back(), 0)), "`first`");
  require_countable(static_cast<size_t>(first.back()), "`first`");
  const SparseRows rows{offsets, edges, first, num_classes};
  for (int32_t family = 0; family < rows.num_families(); ++family) {
    int32_t before = -1;
    for (const RowEdge& edge : rows.family(family)) {
      require_within(edge.number, 0, num_classes, "class");
      require_within(edge.outcome, 0, INT32_MAX, "outcome");
      require_within(edge.level, 0, first[family + 1] - first[family], "level");
      require(before < edge.number,
              [&] { return "the classes of family " + std::to_string(family) + " do not ascend"; });
      before = edge.number;
    }
  }
  return rows;
}

auto comb_of(Values<int32_t> offsets, Records<RowEdge> edges, Values<int32_t> first, int32_t num_classes,
             Budget& budget) {
  const SparseRows rows = rows_of(offsets, edges, first, num_classes);
  Comb found = unlocked([&] { return comb(rows, budget); });
  return std::make_tuple(bindings::records(std::move(found.rows)), bindings::records(std::move(found.entries)));
}

auto row_masks_of(Values<int32_t> offsets, Records<RowEdge> edges, Values<int32_t> first, Values<int32_t> token_class,
                  int32_t num_classes, int64_t begin, int64_t end, Budget& budget) {
  const SparseRows rows = rows_of(offsets, edges, first, num_classes);
  require_countable(token_class.size(), "`token_class`");
  require_within(token_class, 0, num_classes, "class");
  require(0 <= begin && begin < end && end < INT32_MAX,
          [&] { return "there are no tokens from " + std::to_string(begin) + " to " + std::to_string(end); });
  RowMasks found = unlocked([&] { return row_masks(rows, token_class, begin, end, budget); });
  const size_t num_chunks = (static_cast<size_t>(end - begin) + kChunkTokens - 1) / kChunkTokens;
  const size_t num_masks = found.chunks_of_mask.size() / num_chunks;
  return std::make_tuple(array(std::move(found.mask_of_row)),
                         owned(std::move(found.chunks_of_mask), {num_masks, num_chunks}),
                         bindings::records(found.chunks), array(std::move(found.forced)));
}

auto pushdown_rows_of(const tokenfst::PushdownTables& tables, Budget& budget) {
  PushdownRows found = unlocked([&] { return pushdown_rows(tables, budget); });
  const auto times = static_cast<size_t>(found.times);
  const size_t num_outcomes = found.outcomes.size() / times;
  return std::make_tuple(array(std::move(found.rows_at)), array(std::move(found.cuts_at)),
                         array(std::move(found.num_cuts)), array(std::move(found.node_rows)),
                         array(std::move(found.cuts)), array(std::move(found.offsets)),
                         bindings::records(std::move(found.edges)), array(std::move(found.first)),
                         owned(std::move(found.outcomes), {num_outcomes, times}), found.parts, found.at_once);
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("comb", &comb_of, "offsets"_a, "edges"_a, "first"_a, "num_classes"_a, "budget"_a,
        "Return, for each row, where its family begins in the comb and the first row of the family, `[E, 2]`; and the "
        "entries of the comb, each a row and an outcome, `[n, 2]`.");
  m.def("row_masks", &row_masks_of, "offsets"_a, "edges"_a, "first"_a, "token_class"_a, "num_classes"_a, "begin"_a,
        "end"_a, "budget"_a,
        "Return the mask of each row, the chunks of each mask, the chunks, and the only token that each row allows (-1 "
        "if it allows several, -2 if none).");
  m.def("pushdown_rows", &pushdown_rows_of, "tables"_a, "budget"_a,
        "Return the rows of an automaton with a stack: rows_at, cuts_at, num_cuts, node_rows, cuts, offsets, edges, "
        "first, outcomes, parts, at_once.");
}

}  // namespace decoding
