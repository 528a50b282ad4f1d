// Fragment: an automaton from its state 0 to its state 1, to be copied between two states of a layout.
//
// The fragments of strings, numbers and names occur in nearly every schema, and layouts share them. So what lazy
// automata ask about a fragment is found once, when it is made. Arcs into states that lead to no end are left out.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "automata/byte_tables.h"
#include "support/bits.h"

namespace automata {

// The ASCII characters that strings of JSON contain unescaped.
constexpr support::ByteSet kPlainText{{0, ~(1u << 2), ~(1u << 28), ~0u}};

class Fragment {
 public:
  // Make a fragment. No arc leads into state 0 or out of state 1. Labels are numbered from kFirstLabel up.
  Fragment(int32_t num_states, std::span<const Range> arcs, std::span<const Edge> epsilon, Budget& budget);

  int32_t num_states() const { return static_cast<int32_t>(is_free_.size()); }
  // Return the arcs by source, and those of a state by their lowest symbols.
  std::span<const Range> arcs() const { return arcs_; }
  std::span<const Edge> epsilon() const { return epsilon_; }
  // Return the place of a state's first arc, and of its first epsilon arc; for `num_states()`, the number of all arcs.
  int32_t first_arc(int32_t state) const { return arc_offsets_[state]; }
  int32_t first_epsilon(int32_t state) const { return epsilon_offsets_[state]; }
  // Return whether it has a text.
  bool has_text() const { return has_text_; }
  // Return whether it is deterministic and has no epsilon arcs.
  bool is_deterministic() const { return is_deterministic_; }
  // Return whether a state reads every text over kPlainText.
  bool is_free(int32_t state) const { return is_free_[state]; }
  // Return the bytes, other than 0, that some arc tells apart from the byte before.
  const support::ByteSet& cuts() const { return cuts_; }
  // Return the greatest symbol of an arc; -1 if there is no arc.
  int32_t max_symbol() const { return max_symbol_; }
  size_t num_bytes() const { return num_bytes(is_free_.size(), arcs_.size(), epsilon_.size()); }

 private:
  static size_t num_bytes(size_t num_states, size_t num_arcs, size_t num_epsilon);
  void find_free(Budget& budget);
  bool reads_plain_text(int32_t state) const;

  std::vector<Range> arcs_;
  std::vector<Edge> epsilon_;
  std::vector<int32_t> arc_offsets_, epsilon_offsets_;  // [N + 1]
  std::vector<uint8_t> is_free_;                        // [N]
  support::ByteSet cuts_;
  int32_t max_symbol_ = kNone;
  bool has_text_ = false, is_deterministic_ = false;
};
using FragmentPointer = std::shared_ptr<const Fragment>;

// An automaton as a fragment.
struct NfaFragment {
  int32_t num_states;
  std::vector<Range> arcs;  // labels are numbered from kFirstLabel up
  std::vector<Edge> epsilon;
  std::vector<int32_t> state_of;  // [Q], the state of the fragment that each state of the automaton becomes
};

// Return the fragment of the texts from `start` on: that state is state 0 if no arc leads back to it, and final states
// that no arc leaves are state 1.
NfaFragment nfa_fragment(const ByteTables& automaton, int32_t start, Budget& budget);

}  // namespace automata
