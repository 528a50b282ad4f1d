// The effect of characters on the states of a machine: what walks need not enter, and which masks need no walk over all
// tokens.
//
//     loops    of a state: the ASCII bytes that lead back to it whatever the stack is, and which kinds of characters
//              beyond ASCII do; and the bytes that lead to other states from which all of these can be read again. In a
//              set of a regular expression, `[a`, the `a` may begin a range, but whatever else may come does in any
//              case. All text of the characters in the loops can be read
//     text     a state is text-like if many ASCII bytes lead to one state and leave the stack alone: which characters,
//              and where they lead
//     free     of a state: whether all text of printable ASCII without quotes and backslashes can be read, even though
//              not in a loop, as in names but for those that are listed
//     cover    of a state: how many characters of quoted text, but for line separators, may follow in any way. A
//              pattern that some place of a text has to match, `[0-9]{16}`, or one of words, `(\S+\s+){0,99}\S+`, lets
//              nearly every text continue; but its states are many, and none loops on everything that quoted text
//              contains. What matters for a mask is not where a token leads but whether it leads anywhere. So a search
//              visits the states that all texts of one character lead to, then of two, and so on; none of them may be
//              dead or touch the stack. Where single characters lead to is kept by state, since the searches of
//              neighbours meet the same states
//
// Results are kept by state. In a grammar with twenty strings, twenty states behave alike (`Machine::twin`): what loops
// there is found once.
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

// One byte of each class among those that follow one another in characters beyond ASCII.
struct CharacterBytes {
  struct Continuations {
    int32_t count = 0;
    uint8_t bytes[64];
  };

  explicit CharacterBytes(const ByteClasses& byte_class);
  std::span<const uint8_t> all_leads() const { return {leads, static_cast<size_t>(num_leads)}; }
  std::span<const uint8_t> after(Pending pending) const {
    return {continuations[pending].bytes, static_cast<size_t>(continuations[pending].count)};
  }

  // The bytes that begin characters; those after which there are characters of different kinds are all there.
  int32_t num_leads = 0;
  uint8_t leads[support::kLeadEnd - support::kFirstLead];
  Continuations continuations[support::kNumPending];
};

// Text of kDot that may follow in any way.
struct Cover {
  int32_t length = 0;        // in characters
  support::ByteSet leaving;  // bytes with which anything else may follow the text, and perhaps more
};

// The text that can be read from a state that loops, and what may follow it.
struct LoopingText {
  CharacterSet set;            // the characters of the loops
  support::ByteSet leaving;    // other bytes that may follow the text
  support::ByteSet differing;  // bytes that lead to one place after some texts, and to another after others
};

class Characters {
 public:
  Characters(Machine& machine, Budget& budget)
      : machine_(machine),
        budget_(budget),
        bytes_(machine.byte_class()),
        free_(budget),
        note_of_(budget),
        notes_(budget),
        targets_of_(budget),
        character_targets_(budget),
        reached_(budget),
        met_(budget),
        queue_(budget),
        covered_(budget),
        frontier_(budget),
        num_leading_(budget) {}

  // The loops of a state; null if they have not been found yet.
  const Loops* known_loops(int32_t state) const {
    if (static_cast<size_t>(state) >= note_of_.size() || note_of_[state] == kNoNote) return nullptr;
    const Note& own = notes_[note_of_[state]];
    return own.has_loops ? &own.loops : nullptr;
  }
  const Loops& loops(int32_t state);
  // Whether characters beyond ASCII begin with the same steps in two states.
  bool alike_beyond_ascii(int32_t one, int32_t other);
  const TextLike& text(int32_t state);
  // Whether all tokens below a node can be read from a state since they are plain text.
  bool frees(int32_t state, const TrieNode& node) {
    const bool is_plain =
        !(node.high_below | (node.ascii_below[0] & ~kQuoted.ascii[0]) | (node.ascii_below[1] & ~kQuoted.ascii[1]) |
          (node.ascii_below[2] & ~kQuoted.ascii[2]) | (node.ascii_below[3] & ~kQuoted.ascii[3]));
    return is_plain && is_free(state);
  }
  // The text of a text-like state that leads to itself.
  LoopingText looping_text(int32_t state);
  // The text that is free after a state, of up to `kMostCover` characters.
  Cover cover(int32_t state);
  // The bytes that lead anywhere from a state, other than ASCII of a set.
  support::ByteSet leaving(int32_t state, const CharacterSet& set);
  // The bytes that lead anywhere from another state, and nowhere from a state.
  support::ByteSet lost(int32_t state, int32_t other);
  // Whether no character of a set leads anywhere from a state.
  bool refuses(int32_t state, const CharacterSet& set);

  // The greatest length of a cover.
  static constexpr int32_t kMostCover = 32;

  // The state that loops on a set of characters to which most characters lead from a state, which may be that state;
  // kDead if there is none.
  int32_t text_loop(int32_t state, const CharacterSet& set);

 private:
  struct Note {
    Loops looping, loops;  // without and with the bytes that lead to other states
    TextLike text;
    bool has_loops = false, has_text = false;
  };
  // Where single characters of kDot lead from a state.
  struct CharacterTargets {
    bool is_free = false;        // whether all of them lead somewhere
    int32_t begin = 0, end = 0;  // these states, in `reached_`
    support::ByteSet leaving;    // the other bytes that lead anywhere
  };

  // Whether all printable ASCII without quotes and backslashes can be read from a state.
  bool is_free(int32_t state);
  Note& note(int32_t state);
  Loops find_loops(int32_t state);
  // The loops of a state with the bytes that lead to other states, if all text of these characters can be read.
  Loops widened(int32_t state, Loops loops);
  // The ASCII bytes that lead from a state to none of some states.
  support::ByteSet leading_out(int32_t state, std::span<const int32_t> states);
  int32_t leading_class(int32_t state);
  TextLike find_text(int32_t state);
  // The kinds of characters beyond ASCII (`support::Kind`) of which all lead from one state to another, by steps that
  // leave the stack alone; none without kOther.
  uint32_t kinds_that_lead_to(int32_t state, int32_t target);
  // The same of the characters that begin with a byte, after it.
  uint32_t kinds_that_lead_on(int32_t state, uint8_t lead, int32_t target);
  // Whether the rest of every character does; what was asked in this search before is taken to be true, since a search
  // ends where it is not.
  bool rest_leads_to(int32_t state, Pending pending, int32_t target);
  // Find where single characters of kDot lead from a state.
  CharacterTargets find_targets(int32_t state);
  // Add the states that they lead to to the queue; return whether all of them lead somewhere.
  bool add_targets(int32_t state);
  bool add_rest(int32_t state, Pending pending);
  // The same after the byte with which line separators begin, without these.
  bool add_rest_but_separators(int32_t state);
  bool add(int32_t state);
  void begin_search();
  // Return whether a state has not been met in this search with this pending rest of a character.
  bool is_new(int32_t state, Pending pending);

  Machine& machine_;
  Budget& budget_;
  const CharacterBytes bytes_;
  enum class Free : uint8_t { kUnknown, kNo, kYes };
  Vector<Free> free_;  // [Q]
  static constexpr int32_t kNoNote = -1;
  Vector<int32_t> note_of_;  // [Q], the note of each state that was looked at
  Vector<Note> notes_;
  Vector<int32_t> targets_of_;  // [Q], as `note_of_`
  Vector<CharacterTargets> character_targets_;
  Vector<int32_t> reached_;
  Vector<int32_t> met_;  // [Q], the last search that met each state, and with what pending
  Vector<int32_t> queue_;
  int32_t search_ = 0;        // searches are numbered by kSearchStep
  Vector<int32_t> covered_;   // [Q], the last search for a cover that met each state
  Vector<int32_t> frontier_;  // the states that it met
  int32_t cover_search_ = 0;
  Vector<int32_t> num_leading_;  // [Q], how many ASCII bytes lead to each state from one; all 0 between calls
  static constexpr int32_t kSearchStep = support::kNumPending + 1;
};

}  // namespace tokenfst
