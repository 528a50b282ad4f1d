// Bindings of the languages of strings in JSON.
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "constraints/bindings.h"
#include "constraints/lengths.h"
#include "constraints/lists.h"
#include "constraints/spelling.h"

namespace constraints {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using automata::ByteTables;

void require_plain(const ByteTables& tables, const char* what) {
  require(tables.num_labels == 0, [&] { return std::string(what) + " has labels"; });
  require(tables.start != kNone, [&] { return std::string(what) + " has no state"; });
}

ByteTables spelled_of(const ByteTables& content, bool usual, Budget& budget) {
  require_plain(content, "the automaton");
  return unlocked([&] { return spelled(content, usual, budget); });
}

Strings strings_of(Values<int32_t> codes, Values<int32_t> offsets) {
  require_countable(codes.size(), "`codes`");
  require(offsets.size() > 1, "there is no string");
  require_offsets(offsets, offsets.size() - 1, codes.size(), "`offsets`");
  require_within(codes, 0, 0x110000, "code point");
  const Strings strings{codes, offsets};
  for (size_t at = 1; at < strings.size(); ++at) {
    require(std::ranges::lexicographical_compare(strings[at - 1], strings[at]),
            [&] { return "string " + std::to_string(at) + " does not come after the one before it"; });
  }
  return strings;
}

ByteTables list_of(Values<int32_t> codes, Values<int32_t> offsets, const ByteTables& every, bool besides,
                   Budget& budget) {
  const Strings strings = strings_of(codes, offsets);
  require_plain(every, "the automaton of all spellings");
  return unlocked(
      [&] { return besides ? spellings_besides(strings, every, budget) : spellings_of(strings, every, budget); });
}

auto between_of(const ByteTables& language, const ByteTables& every, Budget& budget) {
  require_plain(language, "the language");
  require_plain(every, "the automaton of all spellings");
  return flags(unlocked([&] { return between_characters(language, every, budget); }));
}

}  // namespace

void bind_strings(nb::module_& m) {
  m.def("spelled", &spelled_of, "content"_a, "usual"_a, "budget"_a,
        "Return the spellings, in quotes, of the strings that an automaton over UTF-8 accepts.");
  m.def("listed_spellings", &list_of, "codes"_a, "offsets"_a, "every"_a, "besides"_a, "budget"_a,
        "Return the spellings of the strings of an ascending list or, with `besides`, of all other strings.");
  m.def("between_characters", &between_of, "language"_a, "every"_a, "budget"_a,
        "Return whether each state of an automaton over spellings is between two characters.");
}

}  // namespace constraints
