// The effect of characters on the states of a machine: what walks need not enter, and which masks need no walk over all
// tokens.
//
//     loops    of a state: the ASCII bytes that lead back to it, and which kinds of characters beyond ASCII do,
//     whatever
//              the stack is
//     text     a state is text-like if many ASCII bytes lead to one state and leave the stack alone: which characters,
//              and where they lead
//     free     of a state: whether all text of printable ASCII without quotes and backslashes can be read, though not
//     in
//              a loop: names but for those that are listed
//     cover    of a state: how many characters of a set may follow in any way. A pattern that some place of a text has
//              to match, `[0-9]{16}`, or one of words, `(\S+\s+){0,99}\S+`, lets nearly every text continue; but its
//              states are many, and none loops on everything that quoted text contains. What matters for a mask is not
//              where a token leads but whether it leads anywhere. So a search visits the states that all texts of one
//              character lead to, then of two, and so on; none of them may be dead or touch the stack
//
// Results are kept by state.
#pragma once

#include <cstdint>

#include "tokenfst/lazy/machine.h"
#include "tokenfst/lazy/texts.h"

namespace tokenfst {

struct TextLike {
  CharacterSet set;
  int32_t target = kDead;  // where they lead, kDead if the state is not text-like
  bool target_loops = false;
};

class Characters {
 public:
  Characters(Machine& machine, Budget& budget)
      : machine_(machine),
        budget_(budget),
        notes_(budget),
        met_(budget),
        queue_(budget) {}

  // The loops of a state; null if they have not been found yet.
  const Loops* known_loops(int32_t state) const {
    return static_cast<size_t>(state) < notes_.size() && notes_[state].has_loops ? &notes_[state].loops : nullptr;
  }
  const Loops& loops(int32_t state);
  const TextLike& text(int32_t state);
  // Whether all tokens below a node can be read from a state since they are plain text.
  bool frees(int32_t state, const TrieNode& node);
  // The number of characters of a set that are free after a state, up to `kMostCover`.
  int32_t cover(int32_t state, const CharacterSet& set);
  // Whether no character of a set leads anywhere from a state.
  bool refuses(int32_t state, const CharacterSet& set);
  size_t num_bytes() const { return sizeof(Note) * notes_.size() + 4 * (met_.size() + queue_.size()); }

  // The greatest result of `cover`.
  static constexpr int32_t kMostCover = 16;

 private:
  struct Note {
    Loops loops;
    TextLike text;
    bool has_loops = false, has_text = false, has_free = false, is_free = false;
  };

  Note& note(int32_t state);
  TextLike find_text(int32_t state);
  // The kinds of characters beyond ASCII (`support::Kind`) of which all lead from one state to another, by steps that
  // leave the stack alone; none without kOther.
  uint32_t kinds_that_lead_to(int32_t state, int32_t target);
  // The same of the characters that begin with a byte, after it.
  uint32_t kinds_that_lead_on(int32_t state, uint8_t lead, int32_t target);
  // Whether the rest of every character does; what was asked in this search before is taken to be true, since a search
  // ends where it is not.
  bool rest_leads_to(int32_t state, Pending pending, int32_t target);
  // Adds the states that single characters lead to to the queue; returns whether all characters lead somewhere.
  bool add_behind(int32_t state, const CharacterSet& set);
  bool add_rest(int32_t state, Pending pending);
  bool add(int32_t state);
  void begin_search();
  // Returns whether a state has not been met in this search with this pending rest of a character.
  bool is_new(int32_t state, Pending pending);

  Machine& machine_;
  Budget& budget_;
  Vector<Note> notes_;   // [Q]
  Vector<int32_t> met_;  // [Q], the last search that met each state, and with what pending
  Vector<int32_t> queue_;
  int32_t search_ = 0;  // searches are numbered by kSearchStep
  static constexpr int32_t kSearchStep = support::kNumPending + 1;
};

}  // namespace tokenfst
