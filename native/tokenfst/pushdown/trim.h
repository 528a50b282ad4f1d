// Trims the effects for a vocabulary that lacks bytes: keeps those after which tokens lead to an end.
//
// Every configuration of the automaton over bytes leads to an end. Over tokens this need not be so: if a byte is not a
// token by itself, a text may reach a place where only that byte could follow. Whether a state is such a dead end
// depends on its stack. The kinds of nodes that are coaccessible with a stack form a set, and each such set depends
// only on the one below: the set for one more symbol is determined by the symbol and the set below. There are few sets,
// so a stack can be replaced by its set:
//
//     LiveSets         sets of kinds by number; which set lies above another one, and which ones below
//     configuration    (state, set): a state, and which kinds are coaccessible with its stack
//
// All configurations that tokens reach are visited. Each path through an effect's tree leads to coaccessible nodes in
// all of them, and is kept; or in none, and is removed; or in some: then one table for all stacks would not be exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tokenfst/pushdown/token_effects.h"
#include "tokenfst/pushdown/ways.h"

namespace tokenfst {

enum class Trim { kDone, kEmpty, kDependsOnStack };

struct Trimmed {
  Trim result;
  TokenEffects effects;
};

// Return the effects after which tokens lead to an end; classes without a difference are merged. `tables` are those of
// the effects, including the end. Moves to and from the states of `overflow`, which stand for more configurations than
// are carried, are kept, so that whoever runs the automaton notices.
Trimmed trimmed(const TokenEffects& effects, const PushdownTables& tables, std::span<const int32_t> overflow,
                Budget& budget);

// Return a class with edges at two nodes of one path, or with several moves at one node, if there is any.
std::optional<int32_t> clashing_class(const PushdownTables& tables, Budget& budget);

}  // namespace tokenfst
