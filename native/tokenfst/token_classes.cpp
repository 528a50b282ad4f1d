#include "tokenfst/token_classes.h"

#include <algorithm>

#include "tokenfst/state_functions.h"
#include "tokenfst/walk.h"

namespace tokenfst {

namespace {

// A state that reads more than this many bytes is considered free text, where nearly every token is allowed.
constexpr int64_t kWide = 64;
// With more edges than this out of such states, tables of functions that many states share pay off.
constexpr int64_t kMaxWideEdges = int64_t{1} << 24;

std::vector<ClassRun> runs_of(const Classes& classes) { return {classes.runs().begin(), classes.runs().end()}; }

}  // namespace

TokenClasses state_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  const automata::ByteTables* dense = &automaton;
  automata::ByteTables made;
  if (automaton.is_sparse) dense = &(made = automata::densified(automaton, budget));
  StateTargets states({dense->next.data(), dense->num_states(), dense->num_classes, dense->byte_class}, budget);
  StateFunctions functions(states, dense->num_states(), dense->num_classes, budget);
  const Classes classes = walk(vocabulary, dense->byte_class, functions, budget);
  const auto pairs = [&](int32_t effect) { return functions.pairs(effect); };
  return {runs_of(classes), classes.size(), token_edges(classes, pairs, budget)};
}

bool is_list_like(const automata::ByteTables& automaton, const Vocabulary& vocabulary) {
  int64_t num_wide = 0;
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    int64_t num_read = 0;
    for (const automata::ByteArc& arc : automaton.arcs_of(state)) num_read += arc.high - arc.low + 1;
    num_wide += num_read > kWide;
  }
  return num_wide * vocabulary.num_ranks() <= kMaxWideEdges;
}

TokenClasses token_classes(const automata::ByteTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  const bool as_list = automaton.is_sparse && is_list_like(automaton, vocabulary);
  return as_list ? relation_classes(automaton, vocabulary, budget) : state_classes(automaton, vocabulary, budget);
}

int32_t class_of(int32_t token, const Vocabulary& vocabulary, std::span<const ClassRun> runs) {
  if (vocabulary.is_end(token)) return kEnd;
  return std::ranges::upper_bound(runs, vocabulary.rank_of_token()[token], {}, &ClassRun::end)->number;
}

std::vector<int32_t> class_of_tokens(const Vocabulary& vocabulary, std::span<const ClassRun> runs) {
  std::vector<int32_t> found(vocabulary.size(), kEnd);
  int32_t rank = 0;
  for (const ClassRun& run : runs) {
    for (; rank < run.end; ++rank) found[vocabulary.token_of_rank()[rank]] = run.number;
  }
  return found;
}

bool spells_all(const automata::ByteTables& automaton, std::span<const bool> is_token_byte) {
  for (int32_t byte = 0; byte < 256; ++byte) {
    if (is_token_byte[byte]) continue;
    for (int32_t state = 0; state < automaton.num_states(); ++state) {
      if (automaton.step(state, static_cast<uint8_t>(byte)) != automata::kNone) return false;
    }
  }
  return true;
}

}  // namespace tokenfst
