// Determinizer: implements `automata/pushdown/construction.h`, which describes the algorithm.
//
// What is still to be explored is kept on a stack of tasks, in the order of a recursion without a depth limit.
#pragma once

#include "automata/pushdown/construction.h"
#include "automata/pushdown/element_sets.h"
#include "automata/pushdown/network.h"
#include "automata/pushdown/provisional_ends.h"
#include "automata/pushdown/used_sequences.h"
#include "support/interner.h"

namespace automata {

// Steps over a set of columns, either each to where its column leads from one state of the network, or all to one
// state.
struct StepGroup {
  int32_t state, pops, pushes, leads, columns;
  bool in_network;
};

class Determinizer {
 public:
  Determinizer(const RuleNetwork& network, const ConstructionOptions& options, Budget& budget);

  // Find all states that can be reached from the start, and their steps.
  void run();

  // Return the state for a single state of the network, found while another one is explored.
  int32_t place(int32_t state, int32_t from);
  int32_t num_states() const { return static_cast<int32_t>(came_from.size()); }
  std::span<const Element> elements(int32_t state) const {
    return {elements_.data() + element_offsets_[state], elements_.data() + element_offsets_[state + 1]};
  }
  // Return the stacks that a symbol represents, as cells; and as elements, with their tops as states.
  Vector<int32_t> stacks_of(int32_t symbol);
  Elements elements_of(int32_t symbol);
  // Return the rules at the bottom of some elements, directly above the real stack.
  Vector<int32_t> lowest_rules(std::span<const Element> elements) const;
  // Return the rules in which a symbol is pushed.
  Vector<int32_t> rules_below(int32_t symbol);
  // Return the symbols that may lie under every one of some rules.
  Vector<int32_t> under_all(std::span<const int32_t> rules) const;

  Stacks stacks;
  ColumnSets sets;
  PushdownNetwork network;
  UsedSequences sequences;
  Unbounded unbounded = Unbounded::kNothing;
  int32_t unbounded_state = kNone;
  Elements unbounded_elements;
  Vector<int32_t> came_from, too_many;
  Vector<int32_t> state_of_single;  // [N], the state for each single state of the network, or kNone
  Vector<StepGroup> groups;
  Vector<SharedSteps> shared;

 private:
  // A node of a decision tree that looks at the symbol below, and the symbols that already have branches.
  struct Look {
    int32_t state, popped, columns, condition, outside;
    bool words_ended;
    Elements elements;
    Vector<int32_t> done;
  };
  // An exploration to be done: of a set after some symbols have been popped, the branches of a look from one symbol on,
  // or the paths through the callers of a rule.
  struct Task {
    enum class Kind { kSet, kLook, kReturns } kind;
    int32_t at, popped, columns;
    int32_t condition;  // on which the elements read, except readers; or kNone
    int32_t number;     // of a look, or of a rule
    int32_t outside;    // the lexer that only readers may read, or kNone
    bool words_ended;   // whether some elements are reached by ending words at this place
    size_t next;
    Elements elements;
    Vector<int32_t> symbols;
  };
  struct Leaves {
    Vector<Leaf> leaves;
    Vector<int32_t> ends;  // the rules that can end at the bottom
  };

  // Where the words of a lexer lead that can end, over which columns they end, and over which only to leave the lexer.
  struct Ending {
    int32_t lexer;
    Elements elements;
    int32_t ends, exits;
  };

  // A condition of `ProvisionalEnds` on which the text continues over a set of columns.
  struct OverColumns {
    int32_t condition, columns;
  };

  int32_t new_state(std::span<const Element> elements, int32_t from);
  int32_t set_of(const Elements& elements, int32_t from);
  bool passes_bound(std::span<const int32_t> some, const Elements& elements, int32_t from);
  void stop(Unbounded reason, std::span<const Element> elements, int32_t state);

  void do_task(Task task);
  void next_branch(Task task);
  void next_return(Task task);
  Task after_pop(const Task& task, int32_t symbol, Elements elements);
  void explore(const Task& task);
  void explore_alone(const Task& task);
  void read_on(int32_t at);
  Leaves leaves_of(std::span<const Element> elements, int32_t outside = kNone);
  bool ends_lazily(std::span<const Leaf> leaves) const;
  int32_t first(const Leaves& leaves, int32_t outside);
  void emit(std::span<const Leaf> leaves, const Task& task, int32_t columns);
  void collide(std::span<const Leaf> leaves, const Task& task, int32_t columns);
  void add_collision(std::span<const Leaf> leaves, std::span<const int32_t> targets, const Task& task, int32_t columns);
  int32_t choice(const StackProduct& product);
  void look_below(const Task& task, int32_t columns);
  void branch(int32_t look);
  int32_t target(int32_t state, int32_t column, int32_t condition);
  bool begins_beside_word(const Task& task);
  bool begins_beside_word(const Task& task, int32_t lexer);
  Vector<Leaf> of_lexer(std::span<const Leaf> leaves, int32_t lexer) const;
  Vector<int32_t> lexers_of(std::span<const Leaf> leaves) const;
  int32_t columns_of(std::span<const Leaf> leaves);
  Elements after_words(std::span<const Leaf> leaves);
  Elements after_words_of_one(std::span<const Leaf> leaves);
  void end_words(std::span<const Leaf> leaves, const Task& task, int32_t columns);
  void end_at_once(const Leaves& found, const Task& task);
  int32_t end_some(const Leaves& found, const Task& task, int32_t columns);
  Ending ending(std::span<const Leaf> leaves, int32_t lexer, int32_t columns);
  int32_t end_together(const Leaves& found, std::span<const Ending> endings, const Task& task, int32_t columns);
  int32_t end_provisionally(std::span<const Leaf> leaves, std::span<const Leaf> own, const Task& task, int32_t columns);
  Vector<OverColumns> conditions_over(std::span<const Leaf> own, const Leaves& after, int32_t columns);
  int32_t continued_by(std::span<const Leaf> leaves, int32_t column);
  bool reads_on(std::span<const Leaf> leaves, int32_t column, int32_t condition);
  void continue_both_ways(std::span<const Leaf> leaves, Elements elements, const Task& task, int32_t columns,
                          int32_t condition, int32_t outside);
  int32_t boundary(const Elements& elements, int32_t columns, int32_t from);
  bool may_return(const Task& task);
  void give_up(const Task& task, int32_t columns);
  void push_set(const Task& from, int32_t columns, Elements elements, bool words_ended, int32_t condition,
                int32_t outside);

  ProvisionalEnds provisional_;
  const ConstructionOptions& options_;
  Budget& budget_;
  Vector<int64_t> element_offsets_;
  Elements elements_;
  Vector<int32_t> waiting_;
  Vector<Task> tasks_;
  support::Interner<Element> known_sets_;
  Vector<int32_t> state_of_set_;
  support::Interner<int32_t> known_boundaries_;
  Vector<int32_t> state_of_boundary_;
  Vector<uint8_t> is_boundary_;         // [S], whether words have ended there
  support::Interner<int32_t> choices_;  // stacks, in order
  NumberLists choices_under_;           // by rule
  NumberLists looks_of_;                // by rule
  Vector<Look> looks_;
  Vector<int32_t> look_again_;
};

}  // namespace automata
