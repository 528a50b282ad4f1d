// The minimal automata of all rules of a grammar, determinized and minimized together, in one table.
//
// One state leads to the start of each rule, by a separate symbol, and another is reached from its end by another
// symbol. So no two states of different rules are ever merged. States are numbered rule by rule, breadth first from the
// start of each.
#pragma once

#include <span>
#include <vector>

#include "automata/byte_tables.h"

namespace automata {

// A non-deterministic automaton of rules. Labels are, in this order: the starts of rules, their ends, and any others.
// State 0 leads to the starts, and no arc enters it; ends lead to state 1, which no arc leaves.
struct RuleParts {
  int32_t num_states, num_rules, num_labels;
  std::span<const Range> ranges;
  std::span<const Edge> epsilon;
};

struct RuleTables {
  ByteClasses byte_class{};
  int32_t num_classes = 0;
  std::vector<int32_t> next;        // [Q, C]
  std::vector<int32_t> rule_of;     // [Q]
  std::vector<int32_t> rule_start;  // [R], kNone for rules without a text
  std::vector<Arc> others;          // arcs over labels but the starts, by source and label, which count from 0;
                                    // ends lead to kNone
};

// Throw LimitExceeded past `max_states`.
RuleTables rule_tables(const RuleParts& parts, int64_t max_states, Budget& budget);

}  // namespace automata
