#include "decoding/blend.h"

#include <algorithm>
#include <array>

#include "support/multiversion.h"
#include "support/streaming.h"

namespace decoding {

namespace {

// Eight logits, or flags for them.
template <class Logit>
struct alignas(8 * sizeof(Logit)) Eight {
  Logit values[8];
  constexpr Logit& operator[](int at) { return values[at]; }
  constexpr const Logit& operator[](int at) const { return values[at]; }
};

// For each byte of a mask, eight logits of which those that it keeps have all bits set.
template <class Logit>
constexpr std::array<Eight<Logit>, 256> kKept = [] {
  std::array<Eight<Logit>, 256> kept{};
  for (int byte = 0; byte < 256; ++byte) {
    for (int bit = 0; bit < 8; ++bit) kept[byte][bit] = static_cast<Logit>(-(byte >> bit & 1));
  }
  return kept;
}();

template <class Logit>
inline void blend_word(uint32_t word, Logit value, Logit* logits) {
  for (int first = 0; first < 32; first += 8) {
    const Eight<Logit>& kept = kKept<Logit>[word >> first & 0xFF];
    // Computed in a separate variable before it is written; otherwise compilers do not vectorize it.
    Eight<Logit> chosen;
    for (int bit = 0; bit < 8; ++bit) {
      chosen[bit] = static_cast<Logit>((logits[first + bit] & kept[bit]) | (value & ~kept[bit]));
    }
    std::copy_n(chosen.values, 8, logits + first);
  }
}

// Runs of at least this many bytes are streamed.
constexpr size_t kRunBytes = 512;

template <class Logit>
inline void fill(std::span<Logit> logits, const Blending<Logit>& how) {
  if (how.streaming && logits.size_bytes() >= kRunBytes) {
    support::fill_streaming(logits, how.value);
  } else {
    std::ranges::fill(logits, how.value);
  }
}

template <class Logit>
inline void blend_all(std::span<const int32_t> words, const Blending<Logit>& how, std::span<Logit> logits) {
  const size_t whole = logits.size() / 32;
  for (size_t at = 0; at < whole; ++at) {
    if (words[at] == -1) continue;
    if (words[at] != 0) {
      blend_word(static_cast<uint32_t>(words[at]), how.value, logits.data() + 32 * at);
      continue;
    }
    const size_t first = at;
    while (at + 1 < whole && words[at + 1] == 0) ++at;
    fill(logits.subspan(32 * first, 32 * (at + 1 - first)), how);
  }
  for (size_t token = 32 * whole; token < logits.size(); ++token) {
    if (!(static_cast<uint32_t>(words[whole]) >> (token & 31) & 1)) logits[token] = how.value;
  }
}

}  // namespace

MULTIVERSIONED void blend(std::span<const int32_t> words, const Blending<int16_t>& how, std::span<int16_t> logits) {
  blend_all(words, how, logits);
}
MULTIVERSIONED void blend(std::span<const int32_t> words, const Blending<int32_t>& how, std::span<int32_t> logits) {
  blend_all(words, how, logits);
}
MULTIVERSIONED void blend(std::span<const int32_t> words, const Blending<int64_t>& how, std::span<int64_t> logits) {
  blend_all(words, how, logits);
}

}  // namespace decoding
