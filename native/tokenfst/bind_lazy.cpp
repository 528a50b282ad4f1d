// Bindings of lazy automata.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/held.h"
#include "tokenfst/lazy/automaton.h"
#include "tokenfst/lazy/nfa_distances.h"
#include "tokenfst/lazy/pushdown_distances.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using Shared = std::shared_ptr<LazyAutomaton>;
using SharedTexts = std::shared_ptr<TextLibrary>;

Shared made(SharedTexts texts, const LazyAutomaton::MakeParts& make_parts, int64_t max_masks, Budget& work) {
  require(max_masks > 0, "some masks are kept");
  return unlocked([&] {
    const auto most = static_cast<size_t>(max_masks);
    return std::make_shared<LazyAutomaton>(std::move(texts), make_parts, most, work, check_signals);
  });
}

LazyAutomaton::Parts parts_of(const automata::ByteTables& dense, Budget& budget) {
  const auto distances = [](Machine& machine, Budget& own) {
    return std::make_unique<ByteDistances>(static_cast<FixedMachine&>(machine), own);
  };
  return {std::make_unique<FixedMachine>(dense, budget), distances};
}

Shared from_bytes(SharedTexts texts, const automata::ByteTables& tables, int64_t max_masks, Budget& work) {
  require(tables.num_labels == 0, "the automaton has labels");
  const auto parts = [&](Budget& budget) {
    return tables.is_sparse ? parts_of(automata::densified(tables, work), budget) : parts_of(tables, budget);
  };
  return made(std::move(texts), parts, max_masks, work);
}

Shared from_pushdown(SharedTexts texts, std::shared_ptr<const automata::PushdownTables> tables, int64_t max_masks,
                     Budget& work) {
  require(tables->num_labels == 0 && tables->max_configurations == 1,
          "the automaton has labels or is not deterministic");
  const auto parts = [&](Budget& budget) {
    const auto distances = [tables](Machine&, Budget& own) {
      return std::make_unique<PushdownDistances>(*tables, own);
    };
    return LazyAutomaton::Parts{std::make_unique<FixedMachine>(*tables, budget), distances};
  };
  return made(std::move(texts), parts, max_masks, work);
}

// Return nothing if sets of states would not be exact.
std::optional<Shared> from_visibly_pushdown(SharedTexts texts, const automata::VisiblyPushdownLayout& layout,
                                            int64_t max_masks, Budget& work) {
  require(layout.num_labels == 0, "the rules have labels");
  bool is_exact = true;
  const auto vocabulary = texts->vocabulary();
  const auto parts = [&](Budget& budget) {
    auto machine = std::make_unique<SubsetMachine>(layout, budget);
    is_exact = machine->nfa().is_exact() || !machine->nfa().has_text();
    const auto distances = [vocabulary](Machine& stepped, Budget& own) {
      return std::make_unique<NfaDistances>(static_cast<SubsetMachine&>(stepped), *vocabulary, own);
    };
    return LazyAutomaton::Parts{std::move(machine), distances};
  };
  const Shared automaton = made(std::move(texts), parts, max_masks, work);
  return is_exact ? std::optional(automaton) : std::nullopt;
}

// Set the tokens that do not write their own bytes at the start of a text, with what they write there and the state
// that reads it.
void set_beginnings(LazyAutomaton& automaton, const std::vector<std::tuple<int32_t, nb::bytes, int64_t>>& beginnings) {
  std::vector<Beginning> all;
  for (const auto& [token, text, state] : beginnings) {
    require_within(token, 0, automaton.vocabulary().size(), "token");
    require_within(state, 0, automaton.num_states(), "state");
    const auto bytes = bytes_of(text);
    all.push_back({token, {bytes.begin(), bytes.end()}, static_cast<int32_t>(state)});
  }
  held_unlocked(automaton, [&] { automaton.set_beginnings(std::move(all)); });
}

auto bytes_read(LazyAutomaton& automaton) {
  std::vector<uint8_t> found(256);
  held(automaton, [&] {
    for (int byte = 0; byte < 256; ++byte) found[byte] = automaton.reads(static_cast<uint8_t>(byte));
  });
  return flags(std::move(found));
}

nb::typed<nb::dict, nb::str, int> mask_counts(LazyAutomaton& automaton) {
  const MaskCounts counts = held(automaton, [&] { return automaton.mask_counts(); });
  nb::typed<nb::dict, nb::str, int> found;
  found["walked"] = counts.walked, found["differing"] = counts.differing, found["looping"] = counts.looping;
  found["chained"] = counts.chained, found["covered"] = counts.covered;
  return found;
}

bool fill_within(LazyAutomaton& automaton, int64_t state, Output<int32_t> out, int64_t remaining) {
  const auto words = words_of(automaton, out);
  {
    const LazyAutomaton::Hold hold(automaton, std::try_to_lock);
    if (hold && automaton.fill_known(state, remaining, words)) return true;
  }
  return held_unlocked(automaton, [&] { return automaton.fill(state, remaining, words); });
}

void fill_bitmask(LazyAutomaton& automaton, int64_t state, Output<int32_t> out) {
  fill_within(automaton, state, out, kUnlimited);
}

std::optional<std::tuple<int64_t, std::vector<int32_t>>> last_tokens(LazyAutomaton& automaton, int64_t state) {
  return held(automaton, [&]() -> std::optional<std::tuple<int64_t, std::vector<int32_t>>> {
    const auto found = automaton.last(state);
    if (!found) return std::nullopt;
    return std::tuple(found->state, std::vector<int32_t>(found->tokens.begin(), found->tokens.end()));
  });
}

void translate_forgotten(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ForgottenState& error) {
    const nb::object made = nb::module_::import_("automata.errors").attr("forgotten_state")(error.max_bytes());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

void translate_nondeterministic(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const NondeterministicRules& error) {
    set_error("NondeterministicGrammar", error.what());
  }
}

}  // namespace

void bind_lazy(nb::module_& m) {
  nb::register_exception_translator(translate_nondeterministic);
  nb::register_exception_translator(translate_forgotten);
  nb::class_<TextLibrary>(m, "TextLibrary", "The parts of a vocabulary that are prepared once for many constraints.")
      .def(nb::init<std::shared_ptr<const Vocabulary>>(), "vocabulary"_a);
  nb::class_<LazyAutomaton, Automaton>(m, "LazyCore",
                                       "An automaton over tokens that computes each mask when it is first needed.")
      .def_static("from_bytes", &from_bytes, "texts"_a, "tables"_a, "max_masks"_a, "budget"_a)
      .def_static("from_pushdown", &from_pushdown, "texts"_a, "tables"_a, "max_masks"_a, "budget"_a)
      .def_static("from_visibly_pushdown", &from_visibly_pushdown, "texts"_a, "layout"_a, "max_masks"_a, "budget"_a,
                  "Return the automaton of a visibly pushdown grammar, or None if sets of states would not be exact.")
      .def("set_beginnings", &set_beginnings, "beginnings"_a,
           "Set the tokens that do not write their own bytes at the start of a text: the token, what it writes there, "
           "and the state that reads it.")
      .def_prop_ro(
          "bytes_read", &bytes_read, nb::rv_policy::move,
          "Whether some state may read each byte, `[256]`; true while the transitions of some state are unknown.")
      .def_prop_ro("is_empty", &LazyAutomaton::is_empty)
      .def_prop_ro("start", &LazyAutomaton::start)
      .def_prop_ro_static("end_state", [](nb::handle) { return LazyAutomaton::kEndState; })
      .def_prop_ro(
          "num_masks", [](LazyAutomaton& a) { return held(a, [&] { return a.masks().num_states(); }); },
          "The number of states of the current generation whose masks are kept.")
      .def_prop_ro(
          "num_contexts", [](LazyAutomaton& a) { return held(a, [&] { return a.masks().num_contexts(); }); },
          "The number of contexts of the current generation: states, each with a top part of the stack.")
      .def_prop_ro("mask_counts", &mask_counts, "The number of masks found in each way.")
      .def_prop_ro("num_bytes", [](LazyAutomaton& a) { return held(a, [&] { return a.num_bytes(); }); })
      // Called at every step, so arguments have no names: matching them takes nanobind longer than the step itself.
      .def(
          "is_final", [](LazyAutomaton& a, int64_t state) { return held(a, [&] { return a.is_final(state); }); },
          "Return whether the text may end in a state.")
      .def(
          "advance",
          [](LazyAutomaton& a, int64_t state, int64_t token) {
            return if_allowed(held(a, [&] { return a.advance(state, token); }));
          },
          "Return the state after a state and one more token, or None if the token is not allowed.")
      .def("fill_bitmask", &fill_bitmask, "Write the mask of a state.")
      .def("fill_within", &fill_within,
           "Write the mask of a state within a budget of tokens. Return whether the budget is known to exclude no "
           "token.")
      .def(
          "last_tokens", &last_tokens, "state"_a,
          "Return the last tokens by which a state was first reached, after the state before them; None for the start, "
          "and where they are unknown.")
      .def(
          "min_tokens",
          [](LazyAutomaton& a, int64_t state) { return held_unlocked(a, [&] { return a.min_tokens(state); }); },
          "Return a number of tokens that suffices from a state to the end of the text.");
}

}  // namespace tokenfst
