#include "tokenfst/canonical/product.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "automata/distance.h"
#include "support/matrix.h"
#include "support/value_interner.h"

namespace tokenfst::canonical {

namespace {

using automata::ByteTables;
using automata::Edge;

// A state of the constraint, one of the pieces, and a node of the trie.
struct ProductState {
  int32_t outer, piece, node;
  bool operator==(const ProductState&) const = default;
};

// A class of bytes of the product: bytes that none of its parts distinguishes.
struct ByteColumn {
  int32_t outer, piece, node;
  auto operator<=>(const ByteColumn&) const = default;
};

struct ByteColumns {
  automata::ByteClasses byte_class;
  std::vector<ByteColumn> all;
};

ByteColumns columns_of(const ByteTables& constraint, const PieceAutomaton& pieces, const WholePieces& words) {
  ByteColumns found;
  std::map<ByteColumn, size_t> known;
  for (int byte = 0; byte < 256; ++byte) {
    const ByteColumn own{constraint.byte_class[byte], pieces.byte_class[byte], words.byte_class[byte]};
    const auto [at, is_new] = known.try_emplace(own, found.all.size());
    if (is_new) found.all.push_back(own);
    found.byte_class[byte] = static_cast<uint8_t>(at->second);
  }
  return found;
}

class Explorer {
 public:
  Explorer(const ByteTables& constraint, const PieceAutomaton& pieces, const WholePieces& words, Budget& budget)
      : constraint_(constraint),
        pieces_(pieces),
        words_(words),
        columns_(columns_of(constraint, pieces, words)),
        root_(words.num_nodes() > 1 ? kRoot : kOut),
        second_(words.num_nodes()),
        states_(budget),
        next_(0, columns_.all.size(), kNone, budget),
        final_(budget),
        begins_(budget),
        split_(budget),
        whole_(budget),
        by_label_(0, static_cast<size_t>(constraint.num_labels), kNone, budget),
        budget_(budget) {}

  void explore(int64_t max_states) {
    number({constraint_.start, 0, kOut});
    for (int32_t state = 0; state < states_.size(); ++state) {
      support::require_at_most(states_.size(), max_states);
      expand(state);
      budget_.spend(2 + 4 * static_cast<int64_t>(columns_.all.size()));
    }
  }

  // Return the states that lead to an end.
  CanonicalProduct product() {
    const Vector<int32_t> number = numbered_live();
    CanonicalProduct found;
    if (number[0] == kNone) return found;
    const size_t count = 1 + static_cast<size_t>(std::ranges::max(number));
    budget_.charge(count * (4 * columns_.all.size() + 4 * static_cast<size_t>(constraint_.num_labels) + 10));
    found.automaton.start = 0, found.num_labels = constraint_.num_labels;
    found.automaton.byte_class = columns_.byte_class;
    found.automaton.num_classes = static_cast<int32_t>(columns_.all.size());
    const auto renumber = [&](int32_t target) { return target == kNone ? kNone : number[target]; };
    for (int32_t state = 0; state < states_.size(); ++state) {
      if (number[state] == kNone) continue;
      for (int32_t target : next_[state]) found.automaton.next.push_back(renumber(target));
      for (int32_t target : by_label_[state]) found.by_label.push_back(renumber(target));
      found.automaton.final.push_back(final_[state]);
      found.begins.push_back(begins_[state]);
      found.split.push_back(renumber(split_[state]));
      found.whole.push_back(renumber(whole_[state]));
      budget_.spend(static_cast<int64_t>(columns_.all.size()));
    }
    return found;
  }

 private:
  int32_t number(const ProductState& place) {
    const auto [found, is_new] = states_.intern(place);
    if (is_new) {
      next_.add_row(kNone);
      by_label_.add_row(kNone);
      for (Vector<uint8_t>* flags : {&final_, &begins_}) flags->push_back(false);
      for (Vector<int32_t>* targets : {&split_, &whole_}) targets->push_back(kNone);
    }
    return found;
  }

  void expand(int32_t state) {
    const ProductState at = states_[state];
    const bool piece_ends = pieces_.final[at.piece];
    const int32_t split = pieces_.split[at.piece];
    if (at.node != second_ && words_.spells[at.node]) {
      // Only the token itself may end the piece.
      if (piece_ends || split != kNone) {
        const int32_t second = number({at.outer, at.piece, second_});
        whole_[state] = second;
      }
    } else {
      final_[state] = constraint_.final[at.outer] && piece_ends;
      for (int32_t label = 0; label < constraint_.num_labels && piece_ends; ++label) take_label(state, at.outer, label);
      if (split != kNone) {
        const int32_t beginning = number({at.outer, split, root_});
        split_[state] = beginning, begins_[beginning] = true;
      }
    }
    if (at.node != second_) read(state, at);
  }
  void take_label(int32_t state, int32_t outer, int32_t label) {
    const int32_t target = constraint_.label_target(outer, label);
    if (target == kNone) return;
    const int32_t reached = number({target, 0, kOut});
    by_label_[state][label] = reached;
  }
  void read(int32_t state, const ProductState& at) {
    for (size_t column = 0; column < columns_.all.size(); ++column) {
      const ByteColumn& own = columns_.all[column];
      const int32_t outer = constraint_.next[static_cast<size_t>(at.outer) * constraint_.num_classes + own.outer];
      const int32_t piece = pieces_.step(at.piece, own.piece);
      if (outer == kNone || piece == kNone) continue;
      const int32_t reached = number({outer, piece, words_.below(at.node, own.node)});
      next_[state][column] = reached;
    }
  }

  // Return the number of each state among those that lead to an end, by bytes or by other edges; kNone for all others.
  Vector<int32_t> numbered_live() const {
    Vector<Edge> edges(budget_);
    const auto add = [&](int32_t state, int32_t target) {
      if (target != kNone) edges.push_back({state, target});
    };
    for (int32_t state = 0; state < states_.size(); ++state) {
      for (int32_t target : next_[state]) add(state, target);
      for (int32_t target : by_label_[state]) add(state, target);
      add(state, split_[state]);
      add(state, whole_[state]);
      budget_.spend(static_cast<int64_t>(columns_.all.size()));
    }
    Vector<int32_t> number = automata::distances(states_.size(), edges, automata::flagged(final_), budget_);
    int32_t count = 0;
    for (int32_t& own : number) own = own == kNone ? kNone : count++;
    return number;
  }

  const ByteTables& constraint_;
  const PieceAutomaton& pieces_;
  const WholePieces& words_;
  const ByteColumns columns_;
  const int32_t root_;
  const int32_t second_;  // the node of second states
  support::ValueInterner<ProductState> states_;
  support::Matrix<int32_t> next_;  // [M, C]
  Vector<uint8_t> final_, begins_;
  Vector<int32_t> split_, whole_;
  support::Matrix<int32_t> by_label_;  // [M, L]
  Budget& budget_;
};

}  // namespace

CanonicalProduct product(const ByteTables& constraint, const PieceAutomaton& pieces, const WholePieces& words,
                         int64_t max_states, Budget& budget) {
  Explorer explorer(constraint, pieces, words, budget);
  explorer.explore(max_states);
  return explorer.product();
}

}  // namespace tokenfst::canonical
