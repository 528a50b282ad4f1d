#include "constraints/trees.h"

#include "constraints/escapes.h"

namespace constraints {

namespace {

constexpr uint8_t kQuote = 0x22, kBackslash = 0x5C, kLetterU = 0x75;

// The bytes of one spelling.
class SpelledBytes {
 public:
  void push(int32_t byte) { bytes_[size_++] = static_cast<uint8_t>(byte); }
  void push_unit(int32_t unit) {
    push(kBackslash);
    push(kLetterU);
    for (int32_t shift = 12; shift >= 0; shift -= 4) {
      const int32_t digit = unit >> shift & 15;
      push(digit + (digit < 10 ? 0x30 : 0x57));
    }
  }
  std::span<const uint8_t> bytes() const { return {bytes_, size_}; }

 private:
  static constexpr size_t kLongest = 12;
  uint8_t bytes_[kLongest];
  size_t size_ = 0;
};

SpelledBytes literal(int32_t code) {
  SpelledBytes found;
  if (code < 0x80) {
    found.push(code);
    return found;
  }
  const int32_t to_come = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  found.push((0xF00 >> (to_come + 1) & 0xFF) | code >> 6 * to_come);
  for (int32_t shift = 6 * (to_come - 1); shift >= 0; shift -= 6) found.push(0x80 | (code >> shift & 0x3F));
  return found;
}

SpelledBytes digits(int32_t code) {
  SpelledBytes found;
  if (code < 0x10000) {
    found.push_unit(code);
  } else {
    found.push_unit(0xD800 + ((code - 0x10000) >> 10));
    found.push_unit(0xDC00 + (code & 0x3FF));
  }
  return found;
}

}  // namespace

AllSpellings::AllSpellings(const automata::ByteTables& tables, Budget& budget)
    : tables_(tables),
      arcs_(tables, budget),
      next_(budget) {
  next_.resize(tables.final.size());
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    next_[state].fill(kNone);
    for (const automata::ByteArc& arc : arcs_[state]) {
      std::fill(next_[state].begin() + arc.low, next_[state].begin() + arc.high + 1, arc.target);
    }
    budget.spend(256);
  }
  between_ = tables.start == 0 && arcs_[0].size() == 1 ? step(0, kQuote) : kNone;
  if (between_ == kNone) throw std::invalid_argument("the automaton of all spellings begins with a quote alone");
}

void SpellingTree::clear() {
  nodes_.clear();
  edges_.clear();
  nodes_.push_back({every_.between(), kNone, kNone});
}

void SpellingTree::add_byte(uint8_t byte, int32_t state) {
  const int32_t edge = edge_for(0, byte);
  edges_[edge].state = state;
}

void SpellingTree::add_character(int32_t code, int32_t state) {
  add(literal(code).bytes(), state);
  for (const Escape& escape : kShortEscapes) {
    const uint8_t spelling[] = {kBackslash, escape.letter};
    if (escape.code == code) add(spelling, state);
  }
  add(digits(code).bytes(), state);
}

bool SpellingTree::is_spelling(std::span<const uint8_t> spelling) const {
  int32_t state = every_.between();
  for (uint8_t byte : spelling) {
    state = every_.step(state, byte);
    if (state == kNone) return false;
  }
  return state == every_.between();
}

// Return the edge of a node over a byte; add it if there is none.
int32_t SpellingTree::edge_for(int32_t node, uint8_t byte) {
  int32_t before = kNone, at = nodes_[node].first_edge;
  while (at != kNone && edges_[at].byte < byte) before = at, at = edges_[at].next;
  budget_.spend(2);
  if (at != kNone && edges_[at].byte == byte) return at;
  const auto added = static_cast<int32_t>(edges_.size());
  edges_.push_back({byte, kNone, kNone, at});
  (before == kNone ? nodes_[node].first_edge : edges_[before].next) = added;
  return added;
}

// Add a path that leads to a state, if it is a spelling of a character.
void SpellingTree::add(std::span<const uint8_t> spelling, int32_t state) {
  if (!is_spelling(spelling)) return;
  int32_t node = 0;
  for (size_t at = 0;; ++at) {
    const int32_t edge = edge_for(node, spelling[at]);
    if (at + 1 == spelling.size()) {
      edges_[edge].state = state;
      return;
    }
    if (edges_[edge].node == kNone) {
      edges_[edge].node = num_nodes();
      nodes_.push_back({every_.step(nodes_[node].base, spelling[at]), kNone, kNone});
    }
    node = edges_[edge].node;
  }
}

}  // namespace constraints
