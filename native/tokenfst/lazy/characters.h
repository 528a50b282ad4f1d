// The effect of characters on the states of a machine: which subtrees walks can skip, and which masks need no walk over
// all tokens.
//
//     loops    of a state: the ASCII bytes and the kinds of characters beyond ASCII that lead back to it, whatever the
//              stack is; and the ASCII bytes that lead to other states which read all of these characters as well. (In
//              a set of a regular expression, `[a`, the `a` may begin a range, but the same characters may follow in
//              any case.) So every text over the characters of the loops can be read, but only those that lead back to
//              the state leave the distance to an end as it is
//     text     of a state: the characters that lead from it to one state and leave the stack alone, and that state. A
//              state is text-like if many ASCII bytes are among them
//     free     of a state: whether it reads every text over the ASCII characters that JSON strings contain unescaped,
//              even if it does not loop on them, as in a name that may be any but those listed
//     cover    of a state: the length up to which it reads any quoted text without line separators. A pattern that may
//              match anywhere in a text, `[0-9]{16}`, or one that limits the number of words, `(\S+\s+){0,99}\S+`, lets
//              nearly every text continue; but it has many states, and none loops on all characters of quoted text.
//              What matters for a mask is not where a token leads but whether it leads anywhere. So a search visits
//              the states that all texts of one character lead to, then of two, and so on; none of these steps may be
//              dead or touch the stack. The targets of single characters are kept by state, since searches from
//              neighbouring states meet the same states
//
// Results are kept by state. In a grammar with twenty strings, twenty states behave alike (`Machine::twin`); their
// loops are found once.
#pragma once

#include <cstdint>

#include "tokenfst/lazy/machine.h"
#include "tokenfst/lazy/texts.h"

namespace tokenfst {

struct TextLike {
  CharacterSet set;
  int32_t target = kDead;  // the state they lead to, kDead if the state is not text-like
  bool target_loops = false;
};

// One byte for each class of bytes that begin characters beyond ASCII, and for each class of bytes that may come next
// inside such a character.
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

  // The bytes that begin characters. Those that begin characters of different kinds are all listed.
  int32_t num_leads = 0;
  uint8_t leads[support::kLeadEnd - support::kFirstLead];
  Continuations continuations[support::kNumPending];
};

// The loops of a state, and the part of them that leads back to it.
struct StateLoops {
  Loops all, returning;
};

// The length up to which a state reads any text over kDot.
struct Cover {
  int32_t length = 0;        // in characters
  support::ByteSet leaving;  // the bytes with which something else may follow the text, and perhaps others
};

// The text that a state loops on, and the bytes that may follow it.
struct LoopingText {
  CharacterSet set;            // the characters of the loops
  support::ByteSet leaving;    // other bytes that may follow the text
  support::ByteSet differing;  // bytes whose effect depends on the text before them
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

  // Return the loops of a state; null if they have not been found yet.
  const StateLoops* known_loops(int32_t state) const {
    if (static_cast<size_t>(state) >= note_of_.size() || note_of_[state] == kNoNote) return nullptr;
    const Note& own = notes_[note_of_[state]];
    return own.has_loops ? &own.loops : nullptr;
  }
  const StateLoops& loops(int32_t state);
  // Return whether the first bytes of characters beyond ASCII have the same effect in two states.
  bool alike_beyond_ascii(int32_t one, int32_t other);
  const TextLike& text(int32_t state);
  // Return whether a state reads all tokens below a node because it is free and they are plain text.
  bool frees(int32_t state, const TrieNode& node) {
    const bool is_plain =
        !(node.high_below | (node.ascii_below[0] & ~kQuoted.ascii[0]) | (node.ascii_below[1] & ~kQuoted.ascii[1]) |
          (node.ascii_below[2] & ~kQuoted.ascii[2]) | (node.ascii_below[3] & ~kQuoted.ascii[3]));
    return is_plain && is_free(state);
  }
  // Return the looping state that most characters lead to from a text-like state, after one character or two; kDead if
  // there is none, or if the state loops itself.
  int32_t loop_after(int32_t state);
  // Return the text of a text-like state that leads to itself.
  LoopingText looping_text(int32_t state);
  // Return the cover of a state, of up to `kMaxCover` characters.
  Cover cover(int32_t state);
  // Return the bytes that lead anywhere from a state, without the ASCII bytes of a set.
  support::ByteSet leaving(int32_t state, const CharacterSet& set);
  // Return the bytes that lead anywhere from `other`, and nowhere from `state`.
  support::ByteSet lost(int32_t state, int32_t other);
  // Return whether no character of a set leads anywhere from a state.
  bool refuses(int32_t state, const CharacterSet& set);

  // Forget what is known of states.
  void clear() {
    support::drop(free_, note_of_, notes_, targets_of_, character_targets_, reached_, met_, covered_, num_leading_);
    search_ = cover_search_ = 0;
  }
  // Return the number of bytes of what is known of states.
  size_t num_bytes() const {
    return support::bytes_of(free_, note_of_, notes_, targets_of_, character_targets_, reached_, met_, covered_,
                             num_leading_);
  }

  // The greatest length of a cover.
  static constexpr int32_t kMaxCover = 32;

  // Return the state that the text of `state` leads to, perhaps `state` itself, if it loops on all characters of `set`;
  // otherwise kDead.
  int32_t text_loop(int32_t state, const CharacterSet& set);

 private:
  struct Note {
    StateLoops loops;
    TextLike text;
    bool has_loops = false, has_text = false;
  };
  // The states that single characters of kDot lead to from a state.
  struct CharacterTargets {
    bool is_free = false;        // whether each leads to one without touching the stack
    int32_t begin = 0, end = 0;  // the range of these states in `reached_`
    support::ByteSet leaving;    // the other bytes that lead anywhere
  };

  // Return whether a state is free, found at the first call.
  bool is_free(int32_t state);
  Note& note(int32_t state);
  Loops find_loops(int32_t state);
  // Return `loops` with the bytes that lead to other states as well, if all text over these characters can be read;
  // otherwise unchanged.
  Loops widened(int32_t state, Loops loops);
  // Return the ASCII bytes that lead from a state to none of `states`.
  support::ByteSet leading_out(int32_t state, std::span<const int32_t> states);
  int32_t leading_class(int32_t state);
  TextLike find_text(int32_t state);
  // Return the kinds of characters beyond ASCII (`support::Kind`) all of which lead from one state to another, by steps
  // that leave the stack alone; no kinds at all if kOther is not among them.
  uint32_t kinds_that_lead_to(int32_t state, int32_t target);
  // Return the same kinds for the characters that begin with `lead`, from the state after that byte.
  uint32_t kinds_that_lead_on(int32_t state, uint8_t lead, int32_t target);
  // Return whether every rest of a pending character leads from `state` to `target`. A question already asked in this
  // search counts as true, since a search ends at the first answer that is false.
  bool rest_leads_to(int32_t state, Pending pending, int32_t target);
  // Return the targets of single characters of kDot from a state, found at the first call.
  CharacterTargets find_targets(int32_t state);
  // Add to the queue the states that single characters of kDot lead to; return whether each of them leads to one
  // without touching the stack.
  bool add_targets(int32_t state);
  bool add_rest(int32_t state, Pending pending);
  // Do the same after the first byte of line separators, except for these.
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
  Vector<int32_t> met_;  // [Q], the last search that met each state, and the pending rest there
  Vector<int32_t> queue_;
  int32_t search_ = 0;        // searches are numbered by kSearchStep
  Vector<int32_t> covered_;   // [Q], the last search for a cover that met each state
  Vector<int32_t> frontier_;  // the states that it met
  int32_t cover_search_ = 0;
  Vector<int32_t> num_leading_;  // [Q], how many ASCII bytes lead to each state from one; all 0 between calls
  static constexpr int32_t kSearchStep = support::kNumPending + 1;
};

}  // namespace tokenfst
