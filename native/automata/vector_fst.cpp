#include "automata/vector_fst.h"

#include <bit>
#include <limits>

namespace automata {

std::vector<int32_t> vector_fst_words(std::span<const uint8_t> final, std::span<const FstArc> arcs) {
  constexpr size_t kHead = 3, kArc = 4;
  constexpr auto kInfinity =
      std::bit_cast<int32_t>(std::numeric_limits<float>::infinity());  // of a state that is not final
  std::vector<int32_t> words(kHead * final.size() + kArc * arcs.size());
  std::vector<size_t> place(final.size());
  for (const FstArc& arc : arcs) ++place[arc.source];
  size_t head = 0;
  for (size_t state = 0; state < final.size(); ++state) {
    const size_t num_arcs = place[state];
    words[head] = final[state] ? 0 : kInfinity;
    words[head + 1] = static_cast<int32_t>(num_arcs);
    place[state] = head + kHead;
    head += kHead + kArc * num_arcs;
  }
  for (const FstArc& arc : arcs) {
    int32_t* at = words.data() + place[arc.source];
    at[0] = arc.input + 1, at[1] = arc.output + 1, at[3] = arc.target;
    place[arc.source] += kArc;
  }
  return words;
}

}  // namespace automata
