// LayoutBuilder: a layout as it is being made, rule by rule.
//
//     piece     a text, a copy of a fragment, or a counter
//     reading   what an arc of a rule reads: pieces, one after the other
//
// A rule has an arc for each place where something may come, and the arcs of a grammar share few readings. So a reading
// is described once, and an arc costs a few numbers for each piece.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "automata/visibly_pushdown/layout.h"

namespace automata {

class LayoutBuilder {
 public:
  // Bytes of the texts of readings.
  struct Text {
    int32_t begin, end;
  };
  struct CopyOf {
    int32_t fragment;
  };
  // A counter without its places.
  struct Counted {
    int32_t fragment, entry, low, high, first_number;
  };
  using Piece = std::variant<Text, CopyOf, Counted>;

  LayoutBuilder() {
    layout_.num_states = kLastState + 1;
    layout_.first_exit = {0};
    layout_.text_offsets = {0};
  }

  const VisiblyPushdownLayout& layout() const { return layout_; }
  // Begin a rule, whose states come next.
  void rule(int32_t num_exits);
  // Add states; return the first one.
  int32_t states(int32_t count);
  // Keep a text that a reading has; return the piece.
  Text text(std::span<const uint8_t> bytes);
  // Keep a reading, which is not empty; return its number.
  int32_t reading(std::span<const Piece> pieces);

  // Read a reading between two states.
  void read(int32_t source, int32_t reading, int32_t target);
  void epsilon(int32_t source, int32_t target) { layout_.epsilon.push_back({source, target}); }
  void decision(const Decision& decision) { layout_.decisions.push_back(decision); }
  void guarded(const GuardedArc& arc) { layout_.guarded.push_back(arc); }
  // Call a rule; the targets are by its exits.
  void call(int32_t source, int32_t rule, std::span<const int32_t> targets);
  // End the rule that was begun last in one of its exits.
  void end(int32_t state, int32_t exit);
  void detour(const Detour& detour) { layout_.detours.push_back(detour); }
  void prepared(int32_t fragment) {
    layout_.prepared.push_back({static_cast<int32_t>(layout_.starts.size()) - 1, fragment});
  }
  void fragment(FragmentPointer fragment) { layout_.fragments.push_back(std::move(fragment)); }
  void numbers(std::span<const CountedState> numbers) {
    layout_.numbers.insert(layout_.numbers.end(), numbers.begin(), numbers.end());
  }

  // Charge what was added since the last time.
  void charge(Budget& budget);
  // Return the layout; the builder is then used up.
  VisiblyPushdownLayout finish(int32_t num_labels);

 private:
  void lay(const Piece& piece, int32_t source, int32_t target);

  VisiblyPushdownLayout layout_;
  std::vector<uint8_t> texts_;
  std::vector<Piece> pieces_;
  std::vector<int32_t> first_piece_{0};
  size_t charged_ = 0;
};

}  // namespace automata
