// The states inside escapes: from runs of code points to the state after a backslash.
//
// The last hexadecimal digit distinguishes sixteen consecutive numbers in the runs: they make one node. Runs of such
// nodes are divided by sixteen again, and so on up to the first digit. A node is identified by its arcs, so equal nodes
// are one state within an automaton. Code points above U+FFFF are two groups of ten bits: the lower group gives the
// nodes after `\ud83d`, which form runs again, and these are placed among the others where the digits are d8 to db.
//
//     Escape     a character's code point and the letter of its short escape
//     Escapes    the nodes of an automaton, numbered after its other states
//
// Usual spellings escape no ASCII character that need not be escaped, use lower-case digits, and leave slashes as they
// are.
#pragma once

#include <span>

#include "constraints/runs.h"
#include "support/interner.h"

namespace constraints {

struct Escape {
  uint8_t code, letter;
};
// RFC 8259, section 7.
constexpr Escape kShortEscapes[] = {{0x22, 0x22}, {0x2F, 0x2F}, {0x5C, 0x5C}, {0x08, 0x62},
                                    {0x0C, 0x66}, {0x0A, 0x6E}, {0x0D, 0x72}, {0x09, 0x74}};

class Escapes {
 public:
  // Nodes are numbered from `first_node` up. If `usual`, only usual spellings are made.
  Escapes(int32_t first_node, bool usual, Budget& budget)
      : first_node_(first_node),
        is_usual_(usual),
        nodes_(budget),
        budget_(budget) {}

  // Return the state after the backslash of the escapes of characters, kNone if there are none. There is at least one
  // run of code points, and no surrogates are among them.
  int32_t after_backslash(std::span<const Run> runs);

  int32_t num_nodes() const { return nodes_.size(); }
  // Add the arcs of all nodes.
  void add_arcs(Vector<automata::Range>& ranges) const;

 private:
  // An arc of a node.
  struct Digits {
    int32_t low, high, target;
    bool operator==(const Digits&) const = default;
  };

  int32_t close() { return first_node_ + nodes_.close().number; }
  void add_digits(int32_t low, int32_t high, int32_t target);
  int32_t after_byte(uint8_t byte, int32_t target);
  int32_t node_of_part(std::span<const Run> runs, int32_t size, int32_t first_digit, int32_t block);
  Vector<Run> by_digit(std::span<const Run> runs, int32_t size, int32_t first_digit);
  Vector<Run> by_two_digits(std::span<const Run> runs);
  Vector<Run> halves(std::span<const Run> runs);
  Vector<Run> with_halves(std::span<const Run> units, std::span<const Run> runs);
  Vector<Run> written_as_digits(std::span<const Run> runs);
  int32_t after_letter_u(std::span<const Run> runs);

  const int32_t first_node_;
  const bool is_usual_;
  support::Interner<Digits> nodes_;
  Budget& budget_;
};

}  // namespace constraints
