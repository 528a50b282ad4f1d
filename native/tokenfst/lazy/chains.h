// Chains: the states that a text of limited length leads to, one character after another.
//
// Each character of the text leads to the next state, until no further one may be read or a state loops on them. So the
// mask of the first state, and the distances after its tokens, are found without a walk over all tokens: tokens over
// the text are known by their length, and of the others only the rests are walked over, from the state before the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "tokenfst/lazy/texts.h"
#include "tokenfst/lazy/walk.h"

namespace tokenfst {

struct Link {
  int32_t state;
  bool loops;  // whether it stands for the states after all greater numbers of characters as well
};

// Return whether a state loops on all characters of a text.
inline bool loops_on(WalkContext& context, const Text& text, int32_t state) {
  const TextLike& own = context.characters.text(state);
  return own.target == state && own.set.holds(text.set());
}

// Return the state that every character of a text leads to from `state`, kDead if there is none. `before` is the state
// from which such a character led to `state`, or kDead.
inline int32_t after_character(WalkContext& context, const Text& text, int32_t before, int32_t state) {
  const int32_t further = before == kDead ? kDead : context.machine.one_further(before, state);
  if (further != kDead) return further;
  const TextLike& own = context.characters.text(state);
  return own.set.holds(text.set()) ? own.target : kDead;
}

// Return the chain from a state, by the number of characters read, up to the length of a token; nothing if characters
// of the text lead to several states. If `excludes`, some first characters lead elsewhere, and are left out.
// `loop_of(state)` returns the state that loops on the text in place of another, kDead if there is none.
template <class LoopOf>
std::optional<Vector<Link>> chain(WalkContext& context, const Text& text, int32_t state, bool excludes,
                                  LoopOf loop_of) {
  Vector<Link> links(context.budget);
  for (int32_t before = kDead;;) {
    const int32_t loop = loop_of(state);
    links.push_back({loop == kDead ? state : loop, loop != kDead});
    if (loop != kDead || static_cast<int32_t>(links.size()) > text.longest()) return links;
    const bool is_first = links.size() == 1;
    const int32_t next =
        excludes && is_first ? context.characters.text(state).target : after_character(context, text, before, state);
    if (next == kDead && !context.characters.refuses(state, text.set())) return std::nullopt;
    if (next == kDead) return links;
    before = std::exchange(state, next);
  }
}

}  // namespace tokenfst
