// PushdownNetwork: the automata of rules that call each other, prepared for the subset construction of
// `automata/pushdown/construction.h`.
//
//     column     a byte class, the end of the text, or a label, in this order
//     symbol     a stack symbol: the state that a call returns to
//     tail call  a call that returns to a state with no transition but the end of its rule. It pushes nothing; the end
//                of the called rule is the end of its caller
//     closure    the epsilon closure of a state: the leaves, which are the states reachable by calls and by returns
//                from those calls, with the symbols pushed; and whether the rule can end, so that its caller continues
//
// A step cannot see that the stack is empty, so whether the text may end must follow from the state and the symbols
// that the step reads. That holds if the rules at the bottom of the stack occur nowhere else. Otherwise a separate
// state calls the start rule: the call pushes a symbol that is always the lowest one, and the end of the text pops it.
#pragma once

#include <span>

#include "automata/pushdown/column_sets.h"
#include "automata/pushdown/number_lists.h"
#include "automata/pushdown/stacks.h"
#include "support/csr.h"
#include "support/matrix.h"

namespace automata {

struct RuleCall {
  int32_t rule, back;  // the called rule, and the state where the text continues
};

struct WordEnd {
  int32_t word, target;  // a word may end here, and the text continues at the target
};

// The network of `automata/pushdown/network.py`: Q states, R rules, C classes and L labels.
struct RuleNetwork {
  int32_t num_states, num_rules, num_classes, num_labels, start_rule;
  int32_t num_lazy;                     // words below this number end before anything else is read
  std::span<const uint8_t> byte_class;  // [256]
  std::span<const int32_t> next;        // [Q, C]
  std::span<const int32_t> by_label;    // [Q, L]
  std::span<const uint8_t> final;
  std::span<const int32_t> rule_of, rule_start;
  std::span<const int32_t> call_offsets;  // [Q + 1]
  std::span<const RuleCall> calls;
  std::span<const int32_t> word_offsets;  // [Q + 1]
  std::span<const WordEnd> words;
  std::span<const uint8_t> in_words;  // [R], whether the bytes of a rule are in words; otherwise none of them is
  std::span<const int32_t> lexer;     // [R], the words of different lexers do not compete
};

struct Leaf {
  int32_t pushed;  // the symbols pushed within the closure, a cell
  int32_t state, columns;
};

class PushdownNetwork {
 public:
  struct Closure {
    std::span<const Leaf> leaves;  // valid until the next call
    bool ends;
  };

  PushdownNetwork(const RuleNetwork& network, Stacks& stacks, ColumnSets& sets, Budget& budget);

  int32_t num_states() const { return static_cast<int32_t>(rule_of_.size()); }
  int32_t num_rules() const { return static_cast<int32_t>(rule_start_.size()); }
  int32_t start() const { return start_; }
  int32_t end_state() const { return end_state_; }  // the state after the end of the text
  int32_t end_column() const { return end_column_; }
  int32_t rule_of(int32_t state) const { return rule_of_[state]; }
  const Vector<int32_t>& rules() const { return rule_of_; }                 // of all states
  std::span<const int32_t> row(int32_t state) const { return go_[state]; }  // the target of each column, or kNone
  int32_t columns(int32_t state) const { return columns_[state]; }
  // Return whether what a state reads is in words.
  bool is_in_words(int32_t state) const { return in_words_[rule_of_[state]]; }
  int32_t lexer(int32_t state) const { return lexer_[rule_of_[state]]; }
  // Return whether there are words of several lexers, or words and text that is in no lexer.
  bool has_several_lexers() const { return has_several_lexers_; }
  // Return whether a state may be reached by reading a label.
  bool is_after_label(int32_t state) const { return is_after_label_[state]; }
  // Return whether a state only reads: no word ends there, no rule is called there, and its rule does not end there or
  // has no callers that could continue.
  bool is_plain(int32_t state) const { return is_plain_[state]; }
  // In order of words.
  std::span<const WordEnd> words(int32_t state) const {
    return {words_.data() + word_offsets_[state], words_.data() + word_offsets_[state + 1]};
  }
  bool ends_lazily(int32_t state) const { return !words(state).empty() && words(state).front().word < num_lazy_; }
  // Return the symbols that can lie directly under a call of a rule.
  std::span<const int32_t> under(int32_t rule) const { return under_[rule]; }
  // Return the columns with which the text may continue after a rule, or a superset of them.
  int32_t first(int32_t rule) const { return first_[rule]; }
  // The same, for continuations that the rule's lexer reads, and for those that it does not read.
  int32_t first_inside(int32_t rule) const { return has_several_lexers_ ? first_inside_[rule] : first_[rule]; }
  int32_t first_outside(int32_t rule) const { return first_outside_[rule]; }
  // Return a rule and those that its tail calls lead to, ascending.
  Vector<int32_t> called_last(int32_t rule) const;
  Closure closure(int32_t state);
  // Return a new state of a rule that only reads; spans of rows are invalid after that.
  int32_t add_reader(int32_t rule, std::span<const int32_t> row);
  // Return the least number of symbols above the top with which the open rules can be ended, by state.
  Vector<int32_t> headrooms() const;

 private:
  struct Known {
    int32_t begin = kNone, end = 0;
    bool ends = false;
  };
  struct Reads {
    int32_t columns;
    Vector<int32_t> rules;  // whose callers may continue as well
  };

  std::span<const RuleCall> calls(int32_t state) const {
    return {calls_.data() + call_offsets_[state], calls_.data() + call_offsets_[state + 1]};
  }
  void sort_rows();
  void find_returns(const RuleNetwork& network);
  void add_state(int32_t rule);
  void call_start_rule(int32_t start_rule);
  void find_callers();
  void write_table(const RuleNetwork& network);
  Known find_closure(int32_t state);
  void find_first();
  void find_first_by_lexer();
  void pass_on(Vector<int32_t>& first, const NumberLists& readers);
  Reads reads(int32_t state);

  Stacks& stacks_;
  ColumnSets& sets_;
  Budget& budget_;
  const int32_t num_lazy_;
  const int32_t end_column_;
  int32_t start_, end_state_ = kNone;
  Vector<int32_t> rule_of_, rule_start_, lexer_;
  bool has_several_lexers_ = false;
  Vector<uint8_t> final_, returns_at_once_, is_plain_, in_words_, is_after_label_;
  Vector<int32_t> call_offsets_, word_offsets_;
  Vector<RuleCall> calls_;
  Vector<WordEnd> words_;
  NumberLists under_, tail_;  // by rule
  Vector<uint8_t> at_bottom_;
  support::Matrix<int32_t> go_;  // [N, C + 1 + L]
  Vector<int32_t> columns_, first_, first_inside_, first_outside_;
  Vector<Known> closures_;  // [N]
  Vector<Leaf> leaves_;
};

}  // namespace automata
