// What a vocabulary that lacks bytes leaves of the effects: those after which tokens lead on to an end.
//
// Every configuration of the automaton over bytes leads on to an end. Over tokens that need not be so: where a byte is
// no token by itself, a text may come to where only that byte could follow. Whether a state is such a dead end depends
// on its stack. The kinds of nodes that are coaccessible with a stack are one set, and the sets follow each other: that
// for one symbol more is made of the symbol and the set below. There are few of them, so the stack is forgotten but for
// its set:
//
//     LiveSets         sets of kinds by number; which one lies above another one, and which ones below
//     configuration    (state, set): a state, and which kinds are coaccessible with its stack
//
// All configurations that tokens reach are looked through, and each way through an effect's tree leads to what is
// coaccessible in all of them, or in none and goes, or in some: then one table for all stacks would not be exact.
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

// The effects after which tokens lead on to an end; classes without a difference merge. `tables` are those of the
// effects, with the end. What leads to states of `overflow`, which stand for more configurations than are carried, and
// from them, stays, so that whoever runs the automaton notices.
Trimmed trimmed(const TokenEffects& effects, const PushdownTables& tables, std::span<const int32_t> overflow,
                Budget& budget);

// A class with edges at two nodes of one path or with several moves at one, if there is any.
std::optional<int32_t> clashing_class(const PushdownTables& tables, Budget& budget);

}  // namespace tokenfst
