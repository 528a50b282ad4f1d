// Bindings of canonical tokenization: an encoder's tables, the steps of a compilation, and the automaton.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/canonical/automaton.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace canonical;
using namespace nanobind::literals;
using automata::ByteTables;
using SharedVocabulary = std::shared_ptr<const Vocabulary>;
using SharedPairs = std::shared_ptr<const Pairs>;
using SharedAutomaton = std::shared_ptr<CanonicalAutomaton>;

// Encoders.

struct Derivations {
  std::vector<Derivation> tokens;
};

std::span<const Merge> checked(const Vocabulary& vocabulary, const bindings::Records<Merge>& merges) {
  require_countable(merges.size(), "merges");
  for (const Merge& merge : merges) {
    require_within(std::array{merge.left, merge.right, merge.result}, 0, vocabulary.size(), "token");
  }
  return merges;
}

size_t first_wrong_of(const Vocabulary& vocabulary, const bindings::Records<Merge>& merges) {
  return first_wrong(vocabulary, checked(vocabulary, merges));
}

Derivations derivations_of(const Vocabulary& vocabulary, const std::optional<bindings::Records<Merge>>& merges,
                           Budget& budget) {
  std::optional<std::span<const Merge>> listed;
  if (merges) {
    listed = checked(vocabulary, *merges);
    const size_t wrong = first_wrong(vocabulary, *listed);
    require(wrong == listed->size(),
            [&] { return "merge " + std::to_string(wrong) + " does not make its token of two others"; });
  }
  return {unlocked([&] { return canonical::derivations(vocabulary, listed, budget); })};
}

SharedPairs pairs_of(const Derivations& derivations, Budget& budget) {
  return unlocked([&] { return std::make_shared<const Pairs>(canonical::pairs(derivations.tokens, budget)); });
}

bool may_follow(const Pairs& pairs, int64_t left, int64_t right) {
  require_within(std::array{left, right}, 0, pairs.num_tokens(), "token");
  return pairs.may_follow(static_cast<int32_t>(left), static_cast<int32_t>(right));
}

template <int32_t Derivation::* Member>
auto column(const Derivations& derivations) {
  std::vector<int32_t> found;
  found.reserve(derivations.tokens.size());
  for (const Derivation& token : derivations.tokens) found.push_back(token.*Member);
  return array(std::move(found));
}

automata::ByteClasses byte_classes(Values<uint8_t> byte_class, size_t num_classes) {
  require(byte_class.size() == 256 && num_classes <= 256, "`byte_class` has a class for each byte");
  require_within(byte_class, 0, static_cast<int64_t>(num_classes), "class");
  automata::ByteClasses found;
  std::ranges::copy(byte_class, found.begin());
  return found;
}

PieceAutomaton make_pieces(Values<uint8_t> byte_class, Grid<int32_t> next, Values<int32_t> split, Values<bool> final) {
  require_countable(next.rows, "states");
  require(next.rows > 0 && next.rows == split.size() && next.rows == final.size(), "every state has a row");
  const auto num_states = static_cast<int64_t>(next.rows);
  require_within(next.values, kNone, num_states, "state");
  require_within(split, kNone, num_states, "state");
  return {byte_classes(byte_class, next.columns),
          static_cast<int32_t>(next.columns),
          {next.values.begin(), next.values.end()},
          {split.begin(), split.end()},
          {final.begin(), final.end()}};
}

WholePieces make_words(Values<uint8_t> byte_class, Grid<int32_t> next, Values<bool> spells, Values<int32_t> tokens) {
  require_countable(next.rows, "nodes");
  require(next.rows > 0 && next.rows == spells.size(), "every node has a row");
  require_within(next.values, 0, static_cast<int64_t>(next.rows), "node");
  require_within(tokens, 0, INT32_MAX, "token");
  return {byte_classes(byte_class, next.columns),
          static_cast<int32_t>(next.columns),
          {next.values.begin(), next.values.end()},
          {spells.begin(), spells.end()},
          {tokens.begin(), tokens.end()}};
}

// Steps of a compilation.

CanonicalProduct product_of(const ByteTables& constraint, const PieceAutomaton& pieces, const WholePieces& words,
                            int64_t max_states, Budget& budget) {
  require(constraint.start != kNone, "the constraint has no state");
  return unlocked([&] {
    if (!constraint.is_sparse) return canonical::product(constraint, pieces, words, max_states, budget);
    return canonical::product(automata::densified(constraint, budget), pieces, words, max_states, budget);
  });
}

void require_product(const CanonicalProduct& product) { require(!product.is_empty(), "the product has no state"); }

void require_tokens(const Vocabulary& vocabulary, const Pairs& pairs) {
  require(vocabulary.size() == pairs.num_tokens(), [&] {
    return "the pairs are of " + std::to_string(pairs.num_tokens()) + " tokens, and the vocabulary has " +
           std::to_string(vocabulary.size());
  });
}

std::vector<int32_t> numbers(nb::handle source, int64_t end, const char* what) {
  Buffer buffer;
  if (!buffer.load<const int32_t>(source, 1)) throw nb::type_error("labels and their tokens are arrays of int32");
  const std::span found(buffer.data<const int32_t>(), buffer.shape(0));
  require_within(found, 0, end, what);
  return {found.begin(), found.end()};
}

CanonicalEdges edges_of(const CanonicalProduct& product, const Vocabulary& vocabulary, const Pairs& pairs,
                        const WholePieces& words, Values<int32_t> never,
                        const nb::typed<nb::sequence, std::pair<nb::object, nb::object>>& labelled, Budget& budget) {
  require_product(product);
  require_tokens(vocabulary, pairs);
  require_within(words.tokens, 0, vocabulary.size(), "token");
  require_within(never, 0, vocabulary.size(), "token");
  std::vector<LabelledTokens> groups;
  for (nb::handle group : labelled) {
    const auto [tokens, labels] = nb::cast<std::pair<nb::object, nb::object>>(group);
    groups.push_back({numbers(tokens, vocabulary.size(), "token"), numbers(labels, product.num_labels, "label")});
  }
  return unlocked([&] { return token_edges(product, {vocabulary, pairs, words.tokens, never}, groups, budget); });
}

LiveEdges live_edges_of(const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs,
                        int32_t closing, Budget& budget) {
  require(edges.num_states() == product.num_states(), "the edges are of another product");
  require(edges.num_tokens == pairs.num_tokens(), "the edges are of another vocabulary");
  require(closing == 0 || closing == 1, "one token ends a text, or none");
  return unlocked([&] { return live_edges(edges, product, pairs, closing, budget); });
}

// Automata.

SharedAutomaton from_live(SharedVocabulary vocabulary, const LiveEdges& live, const CanonicalProduct& product,
                          SharedPairs pairs, int64_t max_states, int64_t max_masks, Budget& budget) {
  require_tokens(*vocabulary, *pairs);
  require_product(product);
  require(live.offsets.size() == static_cast<size_t>(product.num_states()) + 1, "the edges are of another product");
  require(live.class_of.size() == static_cast<size_t>(vocabulary->size()), "the edges are of another vocabulary");
  require(max_masks > 0, "some masks are kept");
  return unlocked([&] {
    CanonicalAutomaton::Tables tables{canonical::subsets(live, product, max_states, budget), live.class_of, pairs};
    // Add the text state after the end.
    tables.subsets.final.push_back(true);
    tables.subsets.offsets.push_back(tables.subsets.offsets.back());
    budget.charge(8 * live.class_of.size());
    return std::make_shared<CanonicalAutomaton>(vocabulary, std::move(tables), static_cast<size_t>(max_masks));
  });
}

void require_subsets(const canonical::Subsets& subsets, int64_t num_classes) {
  require(subsets.size() >= 2 && subsets.of(subsets.size() - 1).empty(),
          "there is a text state after the end, and it has no edges");
  for (int32_t text_state = 0; text_state < subsets.size(); ++text_state) {
    int32_t before = -1;
    for (const SubsetEdge& edge : subsets.of(text_state)) {
      require(before < edge.number && edge.number < num_classes, "the classes of a text state do not ascend");
      require_within(std::array{edge.at_boundary, edge.joined}, -1, subsets.size() - 1, "text state");
      require(edge.least_at_boundary >= 0 && edge.least_joined >= 0, "a number of tokens is negative");
      before = edge.number;
    }
  }
}

SharedAutomaton from_subsets(SharedVocabulary vocabulary, Values<int32_t> offsets,
                             const bindings::Records<SubsetEdge>& edges, Values<bool> final, Values<int32_t> class_of,
                             SharedPairs pairs, int64_t max_masks) {
  require_tokens(*vocabulary, *pairs);
  require(class_of.size() == static_cast<size_t>(vocabulary->size()), "every token has a class");
  require(max_masks > 0, "some masks are kept");
  require_countable(final.size(), "`final`");
  require_countable(edges.size(), "`edges`");
  require_offsets(offsets, final.size(), edges.size(), "`offsets`");
  // Every class contains a token, so there are at most as many classes as tokens.
  require_within(class_of, -1, vocabulary->size(), "class");
  canonical::Subsets subsets{
      {offsets.begin(), offsets.end()}, {edges.begin(), edges.end()}, {final.begin(), final.end()}};
  require_subsets(subsets, std::ranges::max(class_of) + int64_t{1});
  CanonicalAutomaton::Tables tables{std::move(subsets), {class_of.begin(), class_of.end()}, std::move(pairs)};
  return std::make_shared<CanonicalAutomaton>(std::move(vocabulary), std::move(tables), static_cast<size_t>(max_masks));
}

int32_t min_tokens(const CanonicalAutomaton& automaton, int64_t state) {
  require_state(automaton, state);
  return unlocked([&] { return automaton.min_tokens(state); });
}

void bind_encoders(nb::module_& m) {
  nb::class_<Derivations>(m, "Derivations", "How merges make each token, as arrays `[V]`.")
      .def_prop_ro("left", &column<&Derivation::left>, nb::rv_policy::move)
      .def_prop_ro("right", &column<&Derivation::right>, nb::rv_policy::move)
      .def_prop_ro("rank", &column<&Derivation::rank>, nb::rv_policy::move)
      .def_prop_ro("clock", &column<&Derivation::clock>, nb::rv_policy::move)
      .def_prop_ro(
          "made",
          [](const Derivations& derivations) {
            std::vector<uint8_t> found;
            for (const Derivation& token : derivations.tokens) found.push_back(token.made != 0);
            return flags(found);
          },
          nb::rv_policy::move);
  nb::class_<Pairs>(m, "Pairs", "Which tokens may be adjacent inside a piece.")
      .def("may_follow", &may_follow, "left"_a, "right"_a)
      .def_prop_ro("position", &shown<&Pairs::position>)
      .def_prop_ro("token_at", &shown<&Pairs::token_at>)
      .def_prop_ro("offsets", &shown<&Pairs::offsets>);
  nb::class_<PieceAutomaton>(m, "PieceAutomaton",
                             "An automaton over bytes that tells where the pieces of a text may end.")
      .def(nb::new_(&make_pieces), "byte_class"_a, "next"_a, "split"_a, "final"_a);
  nb::class_<WholePieces>(m, "WholePieces", "The tokens that occur only as whole pieces.")
      .def(nb::new_(&make_words), "byte_class"_a, "next"_a, "spells"_a, "tokens"_a)
      .def_prop_ro("tokens", &shown<&WholePieces::tokens>);
  m.def("first_wrong_merge", &first_wrong_of, "vocabulary"_a, "merges"_a,
        "Return the index of the first merge whose result is not the concatenation of its two non-empty parts, or the "
        "number of merges.");
  m.def("derivations", &derivations_of, "vocabulary"_a, "merges"_a, "budget"_a,
        "Run an encoder's merges over every token. Without a list, any two tokens that spell a token merge, the token "
        "with the least id first.");
  m.def("pairs", &pairs_of, "derivations"_a, "budget"_a);
}

void bind_steps(nb::module_& m) {
  nb::class_<CanonicalProduct>(m, "CanonicalProduct", "The product of a constraint and the pieces of a pre-tokenizer.")
      .def_prop_ro("num_states", &CanonicalProduct::num_states)
      .def_prop_ro("is_empty", &CanonicalProduct::is_empty);
  nb::class_<CanonicalEdges>(m, "CanonicalEdges", "The edges of every token in a product.");
  nb::class_<LiveEdges>(m, "LiveEdges", "The edges of a product that lead to an end.")
      .def_prop_ro("has_text", [](const LiveEdges& live) { return live.start != kNoEnd; });
  m.def("canonical_product", &product_of, "constraint"_a, "pieces"_a, "words"_a, "max_states"_a, "budget"_a);
  m.def("canonical_edges", &edges_of, "product"_a, "vocabulary"_a, "pairs"_a, "words"_a, "never"_a, "labelled"_a,
        "budget"_a,
        "Return the edges of all tokens. `labelled` has groups of tokens that write nothing, each with the labels that "
        "stand for them.");
  m.def("live_edges", &live_edges_of, "edges"_a, "product"_a, "pairs"_a, "closing"_a, "budget"_a);
}

}  // namespace

void bind_canonical(nb::module_& m) {
  bind_encoders(m);
  bind_steps(m);
  nb::class_<CanonicalAutomaton, Automaton> canonical(
      m, "CanonicalCore", "An automaton that accepts, of each text, only the tokenization that an encoder produces.");
  def_numbered_steps(canonical)
      .def_static("from_live", &from_live, "vocabulary"_a, "live"_a, "product"_a, "pairs"_a, "max_states"_a,
                  "max_masks"_a, "budget"_a)
      .def_static("from_subsets", &from_subsets, "vocabulary"_a, "offsets"_a, "edges"_a, "final"_a, "class_of"_a,
                  "pairs"_a, "max_masks"_a)
      .def_prop_ro("num_states", &CanonicalAutomaton::num_states)
      .def_prop_ro("num_classes", &CanonicalAutomaton::num_classes)
      .def_prop_ro("num_bytes", &CanonicalAutomaton::num_bytes)
      .def_prop_ro("end_state", &CanonicalAutomaton::end_state)
      .def_prop_ro("pairs", [](const CanonicalAutomaton& automaton) { return automaton.tables().pairs; })
      .def_prop_ro("offsets",
                   [](nb::handle_t<CanonicalAutomaton> self) {
                     return view_of(nb::cast<const CanonicalAutomaton&>(self).tables().subsets.offsets, self);
                   })
      .def_prop_ro("edges",
                   [](nb::handle_t<CanonicalAutomaton> self) {
                     return view_of(nb::cast<const CanonicalAutomaton&>(self).tables().subsets.edges, self);
                   })
      .def_prop_ro("final",
                   [](nb::handle_t<CanonicalAutomaton> self) {
                     return view_of_flags(nb::cast<const CanonicalAutomaton&>(self).tables().subsets.final, self);
                   })
      .def_prop_ro("class_of",
                   [](nb::handle_t<CanonicalAutomaton> self) {
                     return view_of(nb::cast<const CanonicalAutomaton&>(self).tables().class_of, self);
                   })
      .def("min_tokens", &min_tokens,
           "Return the least number of tokens from a state to the end of the text, counting the end token.");
}

}  // namespace tokenfst
