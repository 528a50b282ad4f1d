// LazyAutomaton: an exact automaton over tokens whose masks are computed when they are first asked for.
//
//     state    a configuration of a Machine: a state and a stack, both numbers, as one integer. Stacks belong to a
//              generation (`tokenfst/lazy/generation.h`), and so do the states of a machine that makes them on demand.
//              The start, and the empty stack of a machine whose states are fixed, are shared by all generations
//     mask     the tokens that a configuration allows (`tokenfst/lazy/mask_finder.h`). Once there are too many masks,
//              or they take too much memory, all are forgotten; states stay valid
//
// A caller must hold the automaton (`Hold`), one thread at a time. Do not wait for it while holding Python's lock: try,
// and release Python's lock to wait. The machine, its stacks and the kept masks are charged to the automaton's own
// budget.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "support/owned_mutex.h"
#include "tokenfst/automaton.h"
#include "tokenfst/lazy/generation.h"

namespace tokenfst {

// Thrown for a state whose stack was dropped with its generation.
class ForgottenState : public std::exception {
 public:
  explicit ForgottenState(const Budget& budget) : max_bytes_(budget.max_bytes()) {}
  // Return the number of bytes that the automaton may take.
  int64_t max_bytes() const { return max_bytes_; }
  const char* what() const noexcept override { return "a state was forgotten"; }

 private:
  int64_t max_bytes_;
};

class LazyAutomaton : public Automaton {
 public:
  static constexpr int64_t kNotAllowed = -1, kEndState = -2;

  // A machine to step through, and a function that makes its source of distances when they are first asked for.
  using MakeDistances = std::function<std::unique_ptr<DistanceSource>(Machine&, Budget&)>;
  struct Parts {
    std::unique_ptr<Machine> machine;
    MakeDistances make_distances;
  };
  using MakeParts = std::function<Parts(Budget&)>;

  // Holds an automaton, or nothing if it was only tried. Waiting throws std::runtime_error if this thread already holds
  // it (`support::OwnedMutex`).
  class Hold : public std::unique_lock<support::OwnedMutex> {
   public:
    explicit Hold(LazyAutomaton& automaton) : unique_lock(automaton.mutex_) {}
    Hold(LazyAutomaton& automaton, std::try_to_lock_t tag) : unique_lock(automaton.mutex_, tag) {}
  };

  // Construction may take as long as `work` allows.
  LazyAutomaton(std::shared_ptr<TextLibrary> texts, const MakeParts& make_parts, size_t max_masks, Budget& work,
                Budget::Interrupt interrupt);

  // Everything below, except `fill` of an Automaton, requires that the caller holds the automaton. For an invalid state
  // it throws std::invalid_argument, and for one whose stack was dropped with its generation ForgottenState.

  // Set the tokens that write something else at the start of a text. No states may have been given before.
  void set_beginnings(std::vector<Beginning> beginnings);
  // Return whether a state may read a byte; true if the rows of some states are not known yet.
  bool reads(uint8_t byte) const { return machine().reads(byte); }

  int32_t num_states() const { return machine().num_states(); }
  bool is_empty() const { return start_ == kDead; }
  int64_t start() const { return start_; }
  bool is_final(int64_t state);
  // Return the state after one more token, kNotAllowed if it is not allowed.
  int64_t advance(int64_t state, int64_t token);
  // Return the state after more bytes, which tokens need not write; kNotAllowed if the text cannot continue with them.
  int64_t read(std::span<const uint8_t> text, int64_t state);
  // Return the bytes that may come next, and perhaps some others.
  support::ByteSet bytes_after(int64_t state);
  // Return a number of tokens that suffices from a state to the end of the text, counting the end token if there is
  // one.
  int32_t min_tokens(int64_t state);
  // Write the mask of a state. Return whether `remaining` is known to exclude none of its tokens.
  bool fill(int64_t state, int64_t remaining, std::span<uint32_t> out);
  // Do the same if the mask is kept, and nothing otherwise; return whether it is kept.
  bool fill_known(int64_t state, int64_t remaining, std::span<uint32_t> out);
  // Return the last tokens by which a state was first reached, and the state before them; none for the start, and where
  // they are unknown.
  std::optional<Histories::Last> last(int64_t state) const {
    const Histories* histories = histories_of(state);
    return histories ? histories->last(state) : std::nullopt;
  }

  // Return the kept masks of the current generation, in which new texts begin.
  const ContextMaskCache& masks() const { return current_->generation.masks(); }
  const MaskCounts& mask_counts() const { return current_->generation.mask_counts(); }
  // Return the number of bytes of everything, cached masks included.
  size_t num_bytes() const;

  void fill(const State& state, int64_t remaining, std::span<uint32_t> out) override;

 private:
  // A machine, and what is known of the states that texts have explored.
  struct Explored {
    Explored(LazyAutomaton& automaton, std::unique_ptr<Machine> made);
    // Return the number of bytes of the states that texts have reached, 0 for a fixed machine.
    int64_t num_made_bytes() const;

    const std::unique_ptr<Machine> machine;
    Characters characters;
    std::unique_ptr<DistanceSource> distances;  // null until they are asked for
    const Generation::Shared shared;
    const int64_t num_first_bytes;  // the memory of the states of the beginning
  };
  // A generation, the first of the numbers that states use for its cells, and the memory of the texts that were moved
  // there. Fixed machines are shared with the generation before.
  struct Numbered {
    int64_t first, num_moved_bytes;
    std::shared_ptr<Explored> explored;
    Generation generation;

    int64_t num_bytes() const { return static_cast<int64_t>(generation.num_bytes()) + explored->num_made_bytes(); }
  };
  struct Located {
    Numbered& in;
    NumberedConfiguration at;
  };

  // A text that is moved to the current generation, described independently of what machines have made: the state that
  // it had; the descriptions of its own state and of the different symbols of its stack; the numbers that these symbols
  // had, ascending, and the stack, from the top down, with the same numbers; its tokens, if they are known; and the
  // configuration in the current generation, once it has been found there.
  struct MovedText {
    int64_t state;
    Vector<int32_t> descriptions, symbols, stack;
    std::optional<Vector<int32_t>> tokens;
    std::optional<NumberedConfiguration> at;
  };

  // Return the generation and the configuration of a state. Throw std::invalid_argument or ForgottenState.
  Located located(int64_t state);
  // Return the number of a configuration of the current generation.
  int64_t number(const NumberedConfiguration& at) const;
  int64_t number(const std::optional<NumberedConfiguration>& at) const { return at ? number(*at) : kNotAllowed; }
  // Make room, and return the configuration of a state in the current generation. A text of an older one is moved
  // there.
  NumberedConfiguration moved(int64_t state);
  MovedText described(const Located& from, int64_t state);
  NumberedConfiguration place(MovedText& text);
  const Machine& machine() const { return *current_->explored->machine; }
  std::unique_ptr<Numbered> numbered(int64_t first, std::shared_ptr<Explored> explored, const MaskCounts& counts = {});
  // Return whether the current generation is so large that another should follow, where a text begins or continues.
  bool is_large(bool begins) const;
  bool is_full(bool begins) const;
  double share_used() const;
  // Drop what there is no room for, and begin a generation if the current one is large.
  void make_room(bool begins);
  // Forget all texts, and number cells from `first` on.
  void start_again(int64_t first);
  // Do some work with a generation. If it exceeds the memory, do it again without the masks; then, unless it needs the
  // generation before, without that one.
  template <class Work>
  auto within_memory(const Numbered* in, Work work);
  // Return the histories in which that of a state is kept, null if it is not.
  const Histories* histories_of(int64_t state) const;

  support::OwnedMutex mutex_;
  Budget budget_;
  const std::shared_ptr<TextLibrary> texts_;
  const size_t max_masks_;
  MakeDistances make_distances_;
  bool has_fixed_states_ = true;  // of the machines
  int32_t start_ = kDead;
  int64_t first_bytes_ = 0;  // the memory before any text was read
  std::vector<Beginning> beginnings_;
  std::unique_ptr<Numbered> current_, previous_;
  bool must_restart_ = false;  // whether a restart of the current generation was interrupted
  // The text that was moved last. If a step is refused, its old number stays valid; if one is interrupted, it can be
  // repeated.
  std::optional<MovedText> moved_;
  // The state whose mask was written last, and that mask if it is kept: in text, states repeat.
  int64_t last_state_ = 0;
  const CachedMask* last_mask_ = nullptr;
  Generation* last_in_ = nullptr;
};

}  // namespace tokenfst
