// Copies the rules of a layout whose calls refuse exits in which the rules may end.
//
// A text must not enter a rule on a path that leads only to exits after which the caller cannot continue. Which exits
// those are depends on the call, so there is a copy of a rule for each set of exits that some call wants, with the
// states that lead to one of them. `automata/visibly_pushdown/exits.h` does the same for rules that have been
// determinized.
#pragma once

#include <optional>

#include "automata/visibly_pushdown/layout.h"

namespace automata {

// Return the layout with the copies; nothing if these take many times its memory, or one rule has too many copies.
std::optional<VisiblyPushdownLayout> by_wanted_exits(const VisiblyPushdownLayout& layout, Budget& budget);

}  // namespace automata
