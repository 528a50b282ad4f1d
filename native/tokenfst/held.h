// Calls while a lazy automaton is held, from bindings: Python's lock is never held while waiting for the automaton.
#pragma once

#include "bindings/errors.h"
#include "tokenfst/lazy/automaton.h"

namespace tokenfst {

// Call a function while the automaton is held, always without Python's lock.
template <class Function>
auto held_unlocked(LazyAutomaton& automaton, Function function) {
  return bindings::unlocked([&] {
    const LazyAutomaton::Hold hold(automaton);
    return function();
  });
}

// Do the same, without Python's lock only if the call has to wait for the automaton.
template <class Function>
auto held(LazyAutomaton& automaton, Function function) {
  if (const LazyAutomaton::Hold hold(automaton, std::try_to_lock); hold) return function();
  return held_unlocked(automaton, function);
}

}  // namespace tokenfst
