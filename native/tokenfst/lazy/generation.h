// Generation: what a lazy automaton keeps about the texts that were read in some period: their stacks and their masks.
//
// A state is a number, so the stacks that texts have reached must be kept, and so must the states of a machine that
// makes them on demand. A server may read any number of texts with one automaton, and callers do not say which states
// they still hold; but a state from which no text has continued for a long time is unlikely to be one of them. So once
// stacks and states take much memory, another generation begins, with a machine of its own if it makes states. Texts
// that continue are moved there, as descriptions that do not depend on what a machine has made
// (`LazyAutomaton::moved`). The states that they leave behind can still be read; those of the generation before are
// dropped (`LazyAutomaton::make_room`).
//
// Rejected: states as objects that share their stacks (each step would allocate one, and a step takes a third of a
// microsecond); dropping everything at once, as RE2 does (its callers hold no states; here unfinished texts would
// break).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tokenfst/lazy/histories.h"
#include "tokenfst/lazy/mask_finder.h"
#include "tokenfst/lazy/masks_within.h"

namespace tokenfst {

// A token that does not write its own bytes at the start of a text: the text that it writes there, and the state that
// reads this text.
struct Beginning {
  int32_t token;
  std::vector<uint8_t> text;
  int32_t state;
};

class Generation {
 public:
  // What generations with the same machine share.
  struct Shared {
    Machine& machine;
    Characters& characters;
    TextLibrary& texts;
    Budget& budget;
    size_t max_masks;
    const std::vector<Beginning>& beginnings;  // ascending by token
    std::function<DistanceSource&()> distances;
  };

  explicit Generation(const Shared& shared, const MaskCounts& counts = {});

  const Stacks& stacks() const { return stacks_; }
  NumberedConfiguration start() const { return {shared_.machine.start(), Stacks::kEmpty}; }
  bool is_final(const NumberedConfiguration& at);
  // Return the configuration after more bytes, or after a token; none if it is not allowed, or if the token writes
  // nothing.
  std::optional<NumberedConfiguration> read(std::span<const uint8_t> text, const NumberedConfiguration& from);
  std::optional<NumberedConfiguration> target(const NumberedConfiguration& from, int32_t token);
  // Return the configuration with a stack of symbols, from the top down.
  NumberedConfiguration configuration(int32_t state, std::span<const int32_t> symbols);
  // Return a number of tokens that suffices to end the text, counting the end token.
  int32_t distance(const NumberedConfiguration& at) { return masks_within().distance(at); }

  MaskPointer mask(const NumberedConfiguration& at);
  // Return the mask if it is kept, otherwise null; valid until masks are forgotten.
  const CachedMask* known_mask(const NumberedConfiguration& at) const { return cache_.find(at.number()).get(); }
  void write(const CachedMask& mask, std::span<uint32_t> out) { writer_.write(mask, out); }
  // Write the tokens after which the text can end within a budget; return whether these are all tokens of the mask.
  bool write_within(const NumberedConfiguration& at, int64_t remaining, std::span<uint32_t> out);
  void forget_masks();
  // Forget all texts; only configurations with an empty stack stay valid. Then read the beginnings again.
  void clear();
  void read_beginnings();

  const ContextMaskCache& masks() const { return cache_; }
  const MaskCounts& mask_counts() const { return finder_.counts(); }
  // Return about how many bytes stacks and histories take; and the number of bytes of the words of masks, which the
  // budget does not count.
  size_t num_bytes() const;
  size_t num_word_bytes() const { return cache_.num_word_bytes() + writer_.num_bytes(); }

  // By the numbers that the automaton gives to states.
  Histories histories;

 private:
  MaskPointer found_mask(NumberedConfiguration at);
  MaskPointer with_beginnings(const CachedMask& mask);
  MasksWithin& masks_within();

  const Shared& shared_;
  Stacks stacks_;
  const WalkContext context_;
  MaskFinder finder_;
  MaskWriter writer_;
  ContextMaskCache cache_;
  std::vector<FirstToken> first_;  // ascending
  std::optional<MasksWithin> masks_within_;
};

}  // namespace tokenfst
