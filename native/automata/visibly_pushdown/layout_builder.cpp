#include "automata/visibly_pushdown/layout_builder.h"

#include <limits>
#include <utility>

namespace automata {

void LayoutBuilder::rule(int32_t num_exits) {
  layout_.starts.push_back(layout_.num_states);
  layout_.first_exit.push_back(layout_.num_exits() + num_exits);
}

int32_t LayoutBuilder::states(int32_t count) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max() - 2;
  support::require_at_most(int64_t{layout_.num_states} + count, kMax);
  return std::exchange(layout_.num_states, layout_.num_states + count);
}

LayoutBuilder::Text LayoutBuilder::text(std::span<const uint8_t> bytes) {
  const auto begin = static_cast<int32_t>(texts_.size());
  texts_.insert(texts_.end(), bytes.begin(), bytes.end());
  return {begin, static_cast<int32_t>(texts_.size())};
}

int32_t LayoutBuilder::reading(std::span<const Piece> pieces) {
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  first_piece_.push_back(static_cast<int32_t>(pieces_.size()));
  return static_cast<int32_t>(first_piece_.size()) - 2;
}

void LayoutBuilder::read(int32_t source, int32_t reading, int32_t target) {
  const int32_t last = first_piece_[reading + 1] - 1;
  for (int32_t piece = first_piece_[reading]; piece < last; ++piece) {
    const int32_t between = states(1);
    lay(pieces_[piece], source, between);
    source = between;
  }
  lay(pieces_[last], source, target);
}

void LayoutBuilder::lay(const Piece& piece, int32_t source, int32_t target) {
  if (const auto* text = std::get_if<Text>(&piece)) {
    layout_.text.insert(layout_.text.end(), texts_.begin() + text->begin, texts_.begin() + text->end);
    layout_.text_offsets.push_back(static_cast<int32_t>(layout_.text.size()));
    layout_.chains.push_back({source, target});
  } else if (const auto* copy = std::get_if<CopyOf>(&piece)) {
    layout_.copies.push_back({copy->fragment, source, target});
  } else {
    const auto& [fragment, entry, low, high, first_number] = std::get<Counted>(piece);
    const int32_t entered = states(1);
    epsilon(source, entered);
    layout_.counters.push_back({entered, target, fragment, entry, low, high, first_number});
  }
}

void LayoutBuilder::call(int32_t source, int32_t rule, std::span<const int32_t> targets) {
  layout_.calls.push_back({source, rule, static_cast<int32_t>(layout_.targets.size())});
  layout_.targets.insert(layout_.targets.end(), targets.begin(), targets.end());
}

void LayoutBuilder::end(int32_t state, int32_t exit) {
  layout_.ends.push_back({state, layout_.first_exit[layout_.starts.size() - 1] + exit});
}

void LayoutBuilder::charge(Budget& budget) {
  const size_t taken = num_bytes(layout_);
  budget.charge(taken - std::exchange(charged_, taken));
}

VisiblyPushdownLayout LayoutBuilder::finish(int32_t num_labels) {
  layout_.num_labels = num_labels;
  return std::move(layout_);
}

}  // namespace automata
