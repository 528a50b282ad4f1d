// Trims the effects for a vocabulary that lacks bytes: keeps those after which tokens lead to an end.
//
// Every configuration of the automaton over bytes leads to an end. Over tokens it need not: a text may reach a state
// where only a byte that is not a token could follow. Whether a state is such a dead end depends on its stack, but only
// through the set of kinds that are coaccessible with that stack, and the set for one more symbol follows from the
// symbol and the set below. There are few sets, so a stack can be replaced by its set:
//
//     LiveSets         sets of kinds by number; the set above another one, and those below
//     configuration    (state, set): a state, and the kinds that are coaccessible with its stack
//
// All configurations that tokens reach are visited. Each path through the tree of an effect leads to coaccessible
// nodes in all of them, and is kept; or in none, and is removed; or in some, and then no table for all stacks is
// exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tokenfst/pushdown/pop_distances.h"
#include "tokenfst/pushdown/token_effects.h"

namespace tokenfst {

enum class Trim { kDone, kEmpty, kDependsOnStack };

struct Trimmed {
  Trim result;
  TokenEffects effects;
};

// Return the effects after which tokens lead to an end; classes without a difference are merged. `tables` are those of
// the effects, including the end. Moves to and from the states of `overflow`, which represent more configurations
// than are carried, are kept, so that the automaton reports the overflow when it runs.
Trimmed trimmed(const TokenEffects& effects, const PushdownTables& tables, std::span<const int32_t> overflow,
                Budget& budget);

// Return a class with edges at two nodes of one path, or with several moves at one node, if there is any.
std::optional<int32_t> clashing_class(const PushdownTables& tables, Budget& budget);

}  // namespace tokenfst
