// Bindings of automata over bytes: their tables and their construction.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "automata/bindings.h"
#include "automata/byte_tables.h"
#include "automata/canonical.h"
#include "automata/combinations.h"
#include "automata/determinize.h"
#include "automata/intervals.h"
#include "automata/minimize.h"
#include "automata/product.h"
#include "automata/suffix_automaton.h"
#include "automata/word_list.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Construction.

ByteTables minimal_of(int32_t num_states, Records<Range> ranges, Records<Edge> epsilon, int32_t num_labels,
                      int64_t max_states, int64_t dense_bytes, Budget& budget) {
  require(num_states >= 2, "a fragment has a start and an end");
  require_num_labels(num_labels);
  require_ranges(ranges, num_states, num_labels);
  require_edges(epsilon, num_states);
  return unlocked([&] {
    const Intervals over = over_intervals(ranges, num_labels, budget);
    const Nfa nfa{num_states, over.num_symbols(), over.arcs, epsilon, 1};
    return tabulated(minimize(determinize(nfa, max_states, budget), budget), over.of, num_labels, dense_bytes, budget);
  });
}

ByteTables product_of(const ByteTables& left, Values<int32_t> left_labels, const ByteTables& right,
                      Values<int32_t> right_labels, bool difference, int64_t max_states, int64_t dense_bytes,
                      Budget& budget) {
  require(left.start != kNone && right.start != kNone, "a side of a product has no state");
  require(left_labels.size() == right_labels.size(), "both sides have the labels of the product");
  require_within(left_labels, kNone, left.num_labels, "label");
  require_within(right_labels, kNone, right.num_labels, "label");
  const auto operation = difference ? Operation::kDifference : Operation::kIntersection;
  return unlocked(
      [&] { return product({left, left_labels}, {right, right_labels}, operation, max_states, dense_bytes, budget); });
}

ByteTables word_list_of(const nb::typed<nb::tuple, nb::bytes, nb::ellipsis>& strings, int64_t dense_bytes,
                        Budget& budget) {
  std::vector<uint8_t> text;
  std::vector<int64_t> offsets{0};
  std::span<const uint8_t> before;
  require_countable(strings.size(), "strings");
  for (nb::handle string : strings) {
    const auto word = bytes_of(nb::cast<nb::bytes>(string));
    require(offsets.size() == 1 || std::ranges::lexicographical_compare(before, word), "strings do not ascend");
    budget.charge(word.size() + sizeof(int64_t));
    text.insert(text.end(), word.begin(), word.end());
    offsets.push_back(static_cast<int64_t>(text.size()));
    before = word;
  }
  require(!strings.empty(), "there is no string");
  return unlocked([&] { return word_list(text, offsets, dense_bytes, budget); });
}

ByteTables from_ranges(int32_t start, Values<bool> final, Records<Range> ranges, int64_t dense_bytes, Budget& budget) {
  const auto num_states = static_cast<int32_t>(final.size());
  require_countable(final.size(), "final");
  require_within(start, 0, num_states, "start");
  require_ranges(ranges, num_states, 0);
  const std::span<const uint8_t> ends(reinterpret_cast<const uint8_t*>(final.data()), final.size());
  return unlocked([&] { return tabulated(start, ends, ranges, dense_bytes, budget); });
}

ByteTables from_state_of(const ByteTables& tables, int32_t state, int64_t dense_bytes, Budget& budget) {
  require_within(state, 0, tables.num_states(), "state");
  require(tables.num_labels == 0, "the automaton has labels");
  return unlocked([&] { return from_state(tables, state, dense_bytes, budget); });
}

auto combinations_of(const ByteTables& texts, const nb::typed<nb::sequence, ByteTables>& languages, int64_t max_states,
                     Budget& budget) {
  std::vector<nb::object> kept;  // keeps the languages alive while Python's lock is released
  std::vector<const ByteTables*> found;
  for (nb::handle language : languages) {
    kept.push_back(nb::borrow(language));
    found.push_back(&nb::cast<const ByteTables&>(kept.back()));
  }
  require(!found.empty() && texts.num_labels == 0, "there is no language, or the automaton has labels");
  require(std::ranges::all_of(found, [](const ByteTables* language) { return language->num_labels == 0; }),
          "a language has labels");
  const Vector<uint8_t> rows = unlocked([&] { return combinations(texts, found, max_states, budget); });
  return grid(rows, rows.size() / found.size(), found.size());
}

auto substrings_of(const nb::bytes& text, Records<Chunk> chunks, Values<int32_t> numbers, Budget& budget) {
  const auto bytes = bytes_of(text);
  for (const Chunk& chunk : chunks) {
    require(chunk.size > 0 && chunk.begin >= 0 && static_cast<size_t>(chunk.begin) + chunk.size <= bytes.size(),
            "a chunk lies outside of the text");
  }
  require_countable(3 * numbers.size(), "numbers");
  require_within(numbers, 0, static_cast<int64_t>(chunks.size()), "chunk");
  const SpelledSubstrings found = unlocked([&] { return substrings(bytes, chunks, numbers, budget); });
  return std::make_tuple(found.num_states, records(found.ranges), records(found.epsilon));
}

// Tables from arrays.

void require_common(const ByteTables& tables) {
  require_countable(tables.final.size(), "final");
  require_within(tables.start, kNone, tables.num_states(), "start");
  require_within(tables.by_label, kNone, tables.num_states(), "state");
}

ByteTables common(int32_t start, Values<bool> final, Grid<int32_t> by_label) {
  ByteTables tables;
  tables.start = start;
  tables.final.assign(final.begin(), final.end());
  require(by_label.rows == final.size(), "`by_label` has a row for each state");
  tables.num_labels = static_cast<int32_t>(by_label.columns);
  tables.by_label.assign(by_label.values.begin(), by_label.values.end());
  require_common(tables);
  return tables;
}

ByteTables dense_tables(int32_t start, Values<uint8_t> byte_class, Grid<int32_t> next, Values<bool> final,
                        Grid<int32_t> by_label) {
  ByteTables tables = common(start, final, by_label);
  require(byte_class.size() == 256, "`byte_class` has a class for each byte");
  require(next.rows == final.size() && next.columns <= 256, "`next` has a row for each state and at most 256 columns");
  tables.num_classes = static_cast<int32_t>(next.columns);
  if (!final.empty()) require_within(byte_class, 0, tables.num_classes, "class");
  require_within(next.values, kNone, tables.num_states(), "state");
  std::ranges::copy(byte_class, tables.byte_class.begin());
  tables.next.assign(next.values.begin(), next.values.end());
  return tables;
}

ByteTables sparse_tables(int32_t start, Values<int32_t> offsets, Records<ByteArc> arcs, Values<bool> final,
                         Grid<int32_t> by_label) {
  ByteTables tables = common(start, final, by_label);
  require_offsets(offsets, final.size(), arcs.size(), "`offsets`");
  for (const ByteArc& arc : arcs) {
    require(0 <= arc.low && arc.low <= arc.high && arc.high < 256, "an arc is over no bytes");
    require(0 <= arc.target && arc.target < tables.num_states(), "an arc leads outside of the states");
  }
  tables.is_sparse = true;
  tables.offsets.assign(offsets.begin(), offsets.end());
  tables.arcs.assign(arcs.begin(), arcs.end());
  require_ascending(tables);
  return tables;
}

auto range_arcs(const ByteTables& tables, Budget& budget) {
  const ArcsByState arcs(tables, budget);
  std::vector<Range> found;
  found.reserve(arcs.all().size());
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    for (const ByteArc& arc : arcs[state]) found.push_back({state, arc.low, arc.high, arc.target});
  }
  return records(found);
}

int32_t walk(const ByteTables& tables, int32_t state, const nb::bytes& text) {
  require_within(state, kNone, tables.num_states(), "state");
  return tables.walk(state, bytes_of(text));
}

std::pair<ByteTables, std::vector<int32_t>> without_unused_labels(const ByteTables& tables) {
  std::vector<int32_t> kept;
  for (int32_t label = 0; label < tables.num_labels; ++label) {
    bool used = false;
    for (int32_t state = 0; state < tables.num_states(); ++state) used |= tables.label_target(state, label) != kNone;
    if (used) kept.push_back(label);
  }
  ByteTables found = tables;
  found.by_label.clear();
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    for (int32_t label : kept) found.by_label.push_back(tables.label_target(state, label));
  }
  found.num_labels = static_cast<int32_t>(kept.size());
  return {std::move(found), std::move(kept)};
}

}  // namespace

void bind_byte_tables(nb::module_& m) {
  nb::class_<ByteTables>(m, "ByteTables", "A deterministic automaton over bytes and labels, dense or sparse.")
      .def_static("dense", &dense_tables, "start"_a, "byte_class"_a, "next"_a, "final"_a, "by_label"_a)
      .def_static("sparse", &sparse_tables, "start"_a, "offsets"_a, "arcs"_a, "final"_a, "by_label"_a)
      .def_ro("start", &ByteTables::start)
      .def_ro("is_sparse", &ByteTables::is_sparse)
      .def_prop_ro("num_states", &ByteTables::num_states)
      .def_ro("num_classes", &ByteTables::num_classes)
      .def_ro("num_labels", &ByteTables::num_labels)
      .def_prop_ro("num_bytes", &ByteTables::num_bytes)
      .def_prop_ro(
          "final",
          [](nb::handle_t<ByteTables> self) { return view_of_flags(nb::cast<const ByteTables&>(self).final, self); })
      .def_prop_ro("byte_class", &shown<&ByteTables::byte_class>)
      .def_prop_ro("next",
                   [](nb::handle_t<ByteTables> self) {
                     const auto& tables = nb::cast<const ByteTables&>(self);
                     return view(tables.next.data(), {tables.final.size(), static_cast<size_t>(tables.num_classes)},
                                 self);
                   })
      .def_prop_ro("offsets", &shown<&ByteTables::offsets>)
      .def_prop_ro("arcs", &shown<&ByteTables::arcs>)
      .def_prop_ro("by_label",
                   [](nb::handle_t<ByteTables> self) {
                     const auto& tables = nb::cast<const ByteTables&>(self);
                     return view(tables.by_label.data(), {tables.final.size(), static_cast<size_t>(tables.num_labels)},
                                 self);
                   })
      .def("walk", &walk, "state"_a, "text"_a, "Return the state that a text leads to, or -1.")
      .def(
          "accepts", [](const ByteTables& tables, const nb::bytes& text) { return tables.accepts(bytes_of(text)); },
          "text"_a)
      .def("range_arcs", &range_arcs, "budget"_a,
           "Return the arcs over runs of bytes, `[A, 4]`: source, low, high and target.")
      .def(
          "densified",
          [](const ByteTables& tables, Budget& budget) {
            require(tables.is_sparse, "the tables are dense");
            return unlocked([&] { return densified(tables, budget); });
          },
          "budget"_a)
      .def("without_unused_labels", &without_unused_labels,
           "Return the tables without the labels that no state reads, and the numbers of the labels that are kept.");
  m.def("minimal", &minimal_of, "num_states"_a, "ranges"_a, "epsilon"_a, "num_labels"_a, "max_states"_a,
        "dense_bytes"_a, "budget"_a, "Return the minimal automaton of a fragment from state 0 to state 1.");
  m.def("product", &product_of, "left"_a, "left_labels"_a, "right"_a, "right_labels"_a, "difference"_a, "max_states"_a,
        "dense_bytes"_a, "budget"_a,
        "Return the minimal automaton of the intersection or the difference of two languages.");
  m.def(
      "combinations", &combinations_of, "texts"_a, "languages"_a, "max_states"_a, "budget"_a,
      "Return the combinations of languages to which some text belongs: rows `[N, K]` of 0 and 1, the greatest first.");
  m.def("word_list", &word_list_of, "strings"_a, "dense_bytes"_a, "budget"_a,
        "Return the minimal automaton of a list of strings, which are in ascending order.");
  m.def("from_ranges", &from_ranges, "start"_a, "final"_a, "ranges"_a, "dense_bytes"_a, "budget"_a,
        "Return the tables of an automaton that is already minimal, given its arcs.");
  m.def("from_state", &from_state_of, "tables"_a, "state"_a, "dense_bytes"_a, "budget"_a,
        "Return the automaton started from another state, without unreachable states.");
  m.def("substrings", &substrings_of, "text"_a, "chunks"_a, "numbers"_a, "budget"_a,
        "Return the number of states, the ranges and the epsilon arcs of an NFA of all substrings of a sequence of "
        "chunks.");
}

}  // namespace automata
