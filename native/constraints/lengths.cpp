#include "constraints/lengths.h"

#include "constraints/trees.h"

namespace constraints {

std::vector<uint8_t> between_characters(const automata::ByteTables& language, const automata::ByteTables& all,
                                        Budget& budget) {
  const AllSpellings every(all, budget);
  const automata::ArcsByState arcs(language, budget);
  Vector<int32_t> place(language.final.size(), kNone, budget), waiting(budget);
  place[language.start] = all.start;
  waiting.push_back(language.start);
  while (!waiting.empty()) {
    const int32_t state = waiting.back();
    waiting.pop_back();
    budget.spend(1 + static_cast<int64_t>(arcs[state].size()));
    for (const automata::ByteArc& arc : arcs[state]) {
      if (place[arc.target] != kNone) continue;
      place[arc.target] = every.step(place[state], static_cast<uint8_t>(arc.low));
      if (place[arc.target] == kNone) throw std::invalid_argument("the language holds what is not a spelling");
      waiting.push_back(arc.target);
    }
  }
  std::vector<uint8_t> found;
  for (int32_t own : place) found.push_back(own == every.between());
  return found;
}

}  // namespace constraints
