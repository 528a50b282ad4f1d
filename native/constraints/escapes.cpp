#include "constraints/escapes.h"

namespace constraints {

namespace {

constexpr int32_t kSlash = 0x2F, kLetterD = 0x64, kLetterU = 0x75, kBackslash = 0x5C;
constexpr int32_t kLastUnit = 0xFFFF, kLastCode = 0x10FFFF;
// The first two digits of the first halves of pairs of surrogates.
constexpr int32_t kFirstHalf = 0xD8;

struct Codes {
  int32_t first, last;
};
// The code points that usual spellings write as digits: control characters without a short escape, and all beyond
// ASCII.
constexpr Codes kUsualDigits[] = {{0x00, 0x07}, {0x0B, 0x0B}, {0x0E, 0x1F}, {0x7F, kLastCode}};

}  // namespace

// Add the arcs over hexadecimal digits with these values to the node that is being written.
void Escapes::add_digits(int32_t low, int32_t high, int32_t target) {
  if (low < 10) nodes_.push({0x30 + low, 0x30 + std::min(high, 9), target});
  if (high < 10) return;
  low = std::max(low, 10);
  if (!is_usual_) nodes_.push({0x37 + low, 0x37 + high, target});
  nodes_.push({0x57 + low, 0x57 + high, target});
}

// Return the node that leads to a state by one byte, or, if the byte is a hexadecimal letter, by that letter in either
// case.
int32_t Escapes::after_byte(uint8_t byte, int32_t target) {
  if (byte == kLetterD) {
    add_digits(13, 13, target);
  } else {
    nodes_.push({byte, byte, target});
  }
  return close();
}

// Return the node of a block of `size` consecutive numbers, whose targets the runs give.
int32_t Escapes::node_of_part(std::span<const Run> runs, int32_t size, int32_t first_digit, int32_t block) {
  const int32_t base = block * size;
  for (const Run& run : runs) {
    if (run.first >= base + size) break;
    const int32_t low = std::max(run.first, base), high = std::min(run.last, base + size - 1);
    add_digits(first_digit + low - base, first_digit + high - base, run.target);
  }
  return close();
}

// Return the runs of nodes that distinguish `size` consecutive numbers each by a digit, `first_digit` for the first
// number.
Vector<Run> Escapes::by_digit(std::span<const Run> runs, int32_t size, int32_t first_digit) {
  Vector<Run> found(budget_);
  int32_t block = 0;  // all blocks before it are done
  for (size_t at = 0; at < runs.size();) {
    const Run& run = runs[at];
    block = std::max(block, run.first / size);
    const bool covers = run.first <= block * size && run.last >= block * size + size - 1;
    const int32_t last = covers ? (run.last + 1) / size - 1 : block;
    const int32_t node = node_of_part(runs.subspan(at), size, first_digit, block);
    add_run(found, {block, last, node});
    block = last + 1;
    while (at < runs.size() && runs[at].last < block * size) ++at;
    budget_.spend(size);
  }
  return found;
}

Vector<Run> Escapes::by_two_digits(std::span<const Run> runs) { return by_digit(by_digit(runs, 16, 0), 16, 0); }

// Turn the runs of code points above U+FFFF, minus 0x10000, into runs of the first two digits of their first halves.
Vector<Run> Escapes::halves(std::span<const Run> runs) {
  Vector<Run> found = by_digit(by_two_digits(runs), 4, 12);
  for (Run& run : found) {
    for (uint8_t byte : {kLetterD, kLetterU, kBackslash}) run.target = after_byte(byte, run.target);
  }
  return by_two_digits(found);
}

// Return the runs of the first two digits, including those of characters above U+FFFF.
Vector<Run> Escapes::with_halves(std::span<const Run> units, std::span<const Run> runs) {
  Vector<Run> merged(budget_);
  const Vector<Run> others = halves(cut(runs, kLastUnit + 1, kLastCode, budget_));
  for (const Run& run : units) {
    if (run.first < kFirstHalf) add_run(merged, run);
  }
  for (const Run& run : others) add_run(merged, {kFirstHalf + run.first, kFirstHalf + run.last, run.target});
  for (const Run& run : units) {
    if (run.first > kFirstHalf) add_run(merged, run);
  }
  return merged;
}

Vector<Run> Escapes::written_as_digits(std::span<const Run> runs) {
  Vector<Run> kept(budget_);
  if (!is_usual_) kept.assign(runs.begin(), runs.end());
  for (const Codes& codes : kUsualDigits) {
    if (is_usual_) for_parts(runs, codes.first, codes.last, [&](const Run& run) { add_run(kept, run); });
  }
  return kept;
}

// Return the state after `\u`, kNone if no character is written as digits.
int32_t Escapes::after_letter_u(std::span<const Run> runs) {
  const Vector<Run> digits = written_as_digits(runs);
  if (digits.empty()) return kNone;
  Vector<Run> units = by_two_digits(cut(digits, 0, kLastUnit, budget_));
  if (digits.back().last > kLastUnit) units = with_halves(units, digits);
  return by_two_digits(units)[0].target;
}

int32_t Escapes::after_backslash(std::span<const Run> runs) {
  nodes_.discard();
  const int32_t digits = after_letter_u(runs);
  for (const Escape& escape : kShortEscapes) {
    const int32_t target = value_at(runs, escape.code);
    if (target != kNone && !(is_usual_ && escape.code == kSlash)) nodes_.push({escape.letter, escape.letter, target});
  }
  if (digits != kNone) nodes_.push({kLetterU, kLetterU, digits});
  return nodes_.open().empty() ? kNone : close();
}

void Escapes::add_arcs(Vector<automata::Range>& ranges) const {
  for (int32_t node = 0; node < nodes_.size(); ++node) {
    for (const Digits& arc : nodes_[node]) ranges.push_back({first_node_ + node, arc.low, arc.high, arc.target});
    budget_.spend(static_cast<int64_t>(nodes_[node].size()));
  }
}

}  // namespace constraints
