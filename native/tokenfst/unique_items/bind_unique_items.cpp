// Bindings of the memory of items that must differ: positions, their reader, and single values.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/held.h"
#include "tokenfst/unique_items/token_reader.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using namespace unique_items;

void translate_too_long(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TooLong& error) {
    set_error("LimitExceeded", error.what());
  }
}

// Call a function while the marked automaton is held.
template <class Function>
auto held(const TokenReader& tokens, Function function) {
  return tokenfst::held(tokens.reader().marked(), function);
}
template <class Function>
auto held_unlocked(const TokenReader& tokens, Function function) {
  return tokenfst::held_unlocked(tokens.reader().marked(), function);
}

void make_tokens(TokenReader* self, std::shared_ptr<LazyAutomaton> marked, std::shared_ptr<SeparatingTokens> separating,
                 std::pair<int64_t, int64_t> marks, int64_t max_positions) {
  require(marked->vocabulary().size() > 256, "the marked automaton reads bytes");
  require_within(marks.first, 0, 256, "mark");
  require_within(marks.second, 0, 256, "mark");
  const Marks bytes{static_cast<uint8_t>(marks.first), static_cast<uint8_t>(marks.second)};
  auto reader = std::make_unique<Reader>(std::move(marked), bytes, max_positions, check_signals);
  new (self) TokenReader(std::move(reader), std::move(separating));
}

std::optional<Position> after(const TokenReader& tokens, const Position& position, const nb::bytes& text) {
  Position reached = position;
  const auto bytes = bytes_of(text);
  const bool is_allowed = held(tokens, [&] { return tokens.reader().read(reached, bytes); });
  return is_allowed ? std::optional(std::move(reached)) : std::nullopt;
}

std::vector<int64_t> repeats(const TokenReader& tokens, const Position& position, const nb::bytes& text) {
  std::vector<int64_t> found;
  const auto bytes = bytes_of(text);
  held(tokens, [&] {
    Position reached = position;
    return tokens.reader().read(reached, bytes, &found);
  });
  return found;
}

std::span<uint32_t> mask_of(const TokenReader& tokens, const Output<int32_t>& row) {
  require(row.size() >= tokens.tokens().vocabulary().num_words(), "the mask is too short");
  return {reinterpret_cast<uint32_t*>(row.data()), row.size()};
}

void clear(TokenReader& tokens, const Position& position, Output<int32_t> row) {
  const auto words = mask_of(tokens, row);
  held_unlocked(tokens, [&] { tokens.clear(position, words); });
}

std::vector<std::tuple<int32_t, std::optional<Position>>> doubtful(TokenReader& tokens, const Position& position,
                                                                   Output<int32_t> row) {
  const auto words = mask_of(tokens, row);
  std::vector<std::tuple<int32_t, std::optional<Position>>> found;
  held_unlocked(tokens, [&] {
    tokens.visit_doubtful(position, words, [&](int32_t token, const Position* reached) {
      found.emplace_back(token, reached ? std::optional(*reached) : std::nullopt);
    });
  });
  return found;
}

std::optional<nb::bytes> some_text(const TokenReader& tokens, const Position& position) {
  const auto found = held_unlocked(tokens, [&] { return tokens.reader().some_text(position); });
  return found ? std::optional(nb::bytes(found->data(), found->size())) : std::nullopt;
}

std::string shown(const Position& position) {
  int depth = 0;
  for (const Container* open = position.memory.innermost(); open; open = open->outer.get()) ++depth;
  return "<ItemPosition in state " + std::to_string(position.marked) + ", with " + std::to_string(depth) +
         " arrays and objects" + (position.memory.has_rivals() ? ", one with rivals>" : ">");
}

nb::bytes bytes_from(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// Bind strings, numbers and words by themselves, so that tests can check how they are compared.
void bind_scalars(nb::module_& m) {
  nb::class_<Value>(m, "ItemValue", "A JSON value as `uniqueItems` compares it.")
      .def("__hash__", [](const Value& value) { return static_cast<int64_t>(value.hash); })
      .def(
          "__eq__", [](const Value& left, const Value& right) { return left == right; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def_prop_ro(
          "text", [](const Value& value) { return bytes_from(value.text); },
          "The characters of a string in UTF-8, a word, or the digits of a number without zeros at either end.");
  nb::class_<Scalar>(m, "ItemScalar", "A string, number or word of a JSON text, as far as it has been read.")
      .def_static("string", &Scalar::string, "Return the string that a quotation mark begins.")
      .def_static(
          "plain",
          [](const nb::bytes& text) {
            require(text.size() > 0, "a number or word has a first byte");
            return Scalar::plain({text.c_str(), text.size()});
          },
          "text"_a, "Return the number or word that a text begins.")
      .def(
          "read",
          [](Scalar scalar, const nb::bytes& text) {
            for (const uint8_t byte : bytes_of(text)) scalar.read(byte);
            return scalar;
          },
          "text"_a, "Return the scalar after more bytes, which do not end it.")
      .def(
          "may_be", [](const Scalar& scalar, const Value& value) { return Outlook(scalar).may_be(value); }, "value"_a,
          "Return whether it may still become a value.")
      .def(
          "value", [](const Scalar& scalar) { return std::const_pointer_cast<Value>(scalar.value()); },
          "Return the value of the scalar if it ends here.")
      .def_prop_ro("escapes", &Scalar::escapes,
                   "Whether the next byte is part of an escape even if it is a quotation mark.")
      .def_prop_ro(
          "done", [](const Scalar& scalar) { return bytes_from(scalar.done()); },
          "The text read so far, without an incomplete escape or the first half of a surrogate pair.");
}

}  // namespace

void bind_unique_items(nb::module_& m) {
  nb::register_exception_translator(translate_too_long);
  bind_scalars(m);
  nb::class_<SeparatingTokens>(m, "SeparatingTokens", "The tokens of a vocabulary in which another item may begin.")
      .def(nb::init<std::shared_ptr<const Vocabulary>>(), "vocabulary"_a)
      .def_prop_ro(
          "opening",
          [](const SeparatingTokens& tokens) {
            std::vector<int32_t> ids;
            for (const int32_t rank : tokens.opening()) ids.push_back(tokens.id(rank));
            return array(std::move(ids));
          },
          nb::rv_policy::move, "The tokens that may open an array and continue to a second item in it.");
  nb::class_<Position>(m, "ItemPosition",
                       "A position of a text: a state of the marked automaton, and the memory of items.")
      .def_prop_ro(
          "size", [](const Position& position) { return position.memory.size(); },
          "About how many items, members and rivals the position remembers.")
      .def_prop_ro(
          "has_rivals", [](const Position& position) { return position.memory.has_rivals(); },
          "Whether the current item or name may still repeat an earlier one.")
      .def_ro("num_repeats", &Position::num_repeats, "The number of items that have repeated an earlier one.")
      .def("__hash__", [](const Position& position) { return static_cast<int64_t>(position.hash()); })
      .def(
          "__eq__", [](const Position& left, const Position& right) { return left == right; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &shown)
      .def("__copy__", [](nb::handle_t<Position> self) { return nb::borrow(self); })
      .def("__deepcopy__", [](nb::handle_t<Position> self, nb::handle) { return nb::borrow(self); }, "memo"_a);
  nb::class_<TokenReader>(m, "ItemTokenReader", "Follows texts with a memory of the items that must differ.")
      .def("__init__", &make_tokens, "marked"_a, "separating"_a, "marks"_a, "max_positions"_a)
      .def_prop_ro("start", [](const TokenReader& tokens) { return tokens.reader().start(); })
      // Called at every step, so arguments have no names: matching them takes nanobind longer than the step itself.
      .def("after", &after,
           "Return the position after more bytes, or None if they are not allowed or wrongly repeat an item.")
      .def("repeats", &repeats, "Return the places in an allowed text at which items that repeat an earlier one end.")
      .def(
          "can_continue",
          [](const TokenReader& tokens, const Position& position) {
            if (!position.memory.has_rivals()) return true;
            return held_unlocked(tokens, [&] { return tokens.reader().can_continue(position); });
          },
          "Return whether the current item or name can still differ from all earlier ones.")
      .def("clear", &clear, "Remove from a mask of the rules the tokens that the memory forbids.")
      .def("doubtful", &doubtful, "position"_a, "mask"_a,
           "Return the tokens of a mask after which the current item or name has rivals, or in which an item repeats "
           "an earlier one, each with the position that it leads to, or None if it is not allowed.")
      .def("some_way", &some_text,
           "Return a text that leads from a position with rivals to one without, or None if there is none.");
}

}  // namespace tokenfst
