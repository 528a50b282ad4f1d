// Bindings of the steps of an arena on the CPU.
#include <algorithm>
#include <limits>

#include "bindings/errors.h"
#include "bindings/tensors.h"
#include "decoding/bindings.h"
#include "decoding/masks.h"
#include "decoding/steps.h"

namespace decoding {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// The sizes of an arena's sequences, and the range of tokens that it masks.
struct Shape {
  size_t configurations, stack_size;
  int64_t begin, end;
};

// The memory of an arena. The arena keeps it too, and continues to write to it.
struct ArenaMemory {
  Memory view() const { return {words.values(), places.values(), sizes.values()}; }
  size_t width() const { return static_cast<size_t>(shape.end - shape.begin); }

  const HeldArray<int32_t> words;
  const HeldArray<int64_t> places, sizes;
  const Shape shape;
};

using Slots = Values<int64_t>;
using StateRows = Tensor<const int64_t, 3>;
using CountGrid = Grid<int64_t>;
using Stacks = Tensor<const int32_t, 4>;

std::string shape_of(std::span<const size_t> shape) {
  std::string shown;
  for (size_t size : shape) shown += (shown.empty() ? "[" : ", ") + std::to_string(size);
  return shown + "]";
}

template <size_t N>
void require_shape(const char* what, const std::array<size_t, N>& shape, const std::array<size_t, N>& wanted) {
  require(shape == wanted,
          [&] { return std::string(what) + " has the shape " + shape_of(shape) + ", not " + shape_of(wanted); });
}

// Return sequences with checked slots and rows, which are all that masks without a budget use.
SequenceBatch rows_of(const ArenaMemory& held, const Slots& slots, const StateRows& rows) {
  const auto [size, configurations, parts] = rows.shape;
  require_shape("`row`", rows.shape, {slots.size(), held.shape.configurations, std::max<size_t>(parts, 1)});
  const SequenceBatch found{size, configurations, parts, slots.data(), rows.data};
  check_rows(held.view(), found);
  return found;
}

// Return checked sequences, with all fields.
SequenceBatch sequences_of(const ArenaMemory& held, const Slots& slots, const StateRows& rows, const CountGrid& counts,
                           const CountGrid& heights, const Stacks& stacks) {
  SequenceBatch found = rows_of(held, slots, rows);
  require_shape("`counter`", std::array{counts.rows, counts.columns}, {found.size, found.configurations});
  require_shape("`height`", std::array{heights.rows, heights.columns}, {found.size, found.configurations});
  require_shape("`stack`", stacks.shape, {found.size, found.configurations, held.shape.stack_size, 3});
  found.counts = counts.values.data(), found.heights = heights.values.data();
  found.all_stacks = reinterpret_cast<const StackEntry*>(stacks.data), found.stack_size = held.shape.stack_size;
  check_counts(found);
  return found;
}

void hold(ArenaMemory* self, nb::handle words, nb::handle places, nb::handle sizes, int64_t configurations,
          int64_t stack_size, int64_t begin, int64_t end) {
  require(configurations > 0 && stack_size > 0, "sequences have a configuration and an entry of the stack at least");
  require(0 <= begin && begin < end && end < INT32_MAX, "there are no tokens to be masked");
  const Shape shape{static_cast<size_t>(configurations), static_cast<size_t>(stack_size), begin, end};
  new (self) ArenaMemory{{words, "`words` is an array of int32"},
                         {places, "`places` is an array of int64"},
                         {sizes, "`sizes` is an array of int64"},
                         shape};
}

void check_sequences(const ArenaMemory& held, const Slots& slots, const StateRows& rows, const CountGrid& counts,
                     const CountGrid& heights, const Stacks& stacks) {
  sequences_of(held, slots, rows, counts, heights, stacks);
}

void advance_all(const ArenaMemory& held, const Slots& slots, const StateRows& rows, const CountGrid& counts,
                 const CountGrid& heights, const Stacks& stacks, Values<int64_t> tokens,
                 const Tensor<int64_t, 3>& after_rows, const OutputGrid<int64_t>& after_counts,
                 const OutputGrid<int64_t>& after_heights, const Tensor<int32_t, 4>& after_stacks) {
  const SequenceBatch at = sequences_of(held, slots, rows, counts, heights, stacks);
  require(at.configurations == 1,
          [&] { return "sequences have " + std::to_string(at.configurations) + " configurations, not one"; });
  require_shape("`tokens`", std::array{tokens.size()}, {at.size});
  require_shape("`row` afterwards", after_rows.shape, rows.shape);
  require_shape("`counter` afterwards", std::array{after_counts.rows, after_counts.columns}, {at.size, 1});
  require_shape("`height` afterwards", std::array{after_heights.rows, after_heights.columns}, {at.size, 1});
  require_shape("`stack` afterwards", after_stacks.shape, stacks.shape);
  const After after{after_rows.data, after_counts.values.data(), after_heights.values.data(),
                    reinterpret_cast<StackEntry*>(after_stacks.data)};
  unlocked([&] { advance(held.view(), at, tokens, after); });
}

void write_all_masks(const ArenaMemory& held, const Slots& slots, const StateRows& rows,
                     const OutputGrid<int32_t>& out) {
  const SequenceBatch at = rows_of(held, slots, rows);
  const size_t num_chunks = (held.width() + kChunkTokens - 1) / kChunkTokens;
  require_shape("`out`", std::array{out.rows, out.columns}, {at.size, num_chunks * kChunkWords});
  unlocked([&] { write_masks(held.view(), at, static_cast<int64_t>(num_chunks), out.values); });
}

// Mask the logits of checked sequences.
template <class Logit>
void mask_rows(const ArenaMemory& held, const SequenceBatch& at, std::span<const int64_t> remaining, int64_t infinity,
               int num_threads, const StridedRows<Logit>& logits) {
  require_shape("logits", std::array{logits.rows, logits.columns}, {at.size, held.width()});
  require_within(infinity, std::numeric_limits<Logit>::min(), int64_t{std::numeric_limits<Logit>::max()}, "a logit");
  const LogitRows<Logit> out{logits.data, logits.rows, logits.columns, logits.stride, static_cast<Logit>(infinity)};
  unlocked([&] { mask_logits(held.view(), at, {remaining, held.shape.begin}, out, num_threads); });
}

template <class Logit>
void mask_all(const ArenaMemory& held, const Slots& slots, const StateRows& rows, int64_t infinity, int num_threads,
              const StridedRows<Logit>& logits) {
  mask_rows(held, rows_of(held, slots, rows), {}, infinity, num_threads, logits);
}

template <class Logit>
void mask_all_within(const ArenaMemory& held, const Slots& slots, const StateRows& rows, const CountGrid& counts,
                     const CountGrid& heights, const Stacks& stacks, const Values<int64_t>& remaining, int64_t infinity,
                     int num_threads, const StridedRows<Logit>& logits) {
  const SequenceBatch at = sequences_of(held, slots, rows, counts, heights, stacks);
  require_shape("`remaining`", std::array{remaining.size()}, {at.size});
  mask_rows(held, at, remaining, infinity, num_threads, logits);
}

}  // namespace

void bind_memory(nb::module_& m) {
  nb::class_<ArenaMemory>(m, "ArenaMemory", "The memory of an arena on the CPU, as its steps read it.")
      .def("__init__", &hold, "words"_a, "places"_a, "sizes"_a, "configurations"_a, "stack_size"_a, "begin"_a, "end"_a,
           "Keep the words of all blocks and, by slot, the place and the size of each block in words; size 0 if there "
           "is none.")
      // Called at every step, so arguments have no names: nanobind would need extra time to match them.
      .def("check", &check_sequences,
           "Raise ValueError unless the slots, rows, counts and heights of all sequences are valid.")
      .def("advance", &advance_all, "Write the rows, counts, heights and stacks of sequences after one more token.")
      .def("write_masks", &write_all_masks, "Write the packed masks of sequences, in whole chunks.")
      .def("mask_logits", &mask_all<int16_t>,
           "Write minus infinity over the logits of forbidden tokens, and subtract the costs of the others.")
      .def("mask_logits", &mask_all<int32_t>)
      .def("mask_logits", &mask_all<int64_t>)
      .def("mask_logits_within", &mask_all_within<int16_t>, "Do the same as `mask_logits`, within budgets of tokens.")
      .def("mask_logits_within", &mask_all_within<int32_t>)
      .def("mask_logits_within", &mask_all_within<int64_t>);
}

}  // namespace decoding
