// KleeneFormula: the truth of a formula, where some statements may be known neither to be true nor to be false.
//
// In Kleene's strong logic a conjunction is false as soon as one of its parts is, and not known if one is not known and
// none is false. A formula about numbers is evaluated after each digit of a text, at as many places as the formula has
// bounds: for a thousand bounds, thousands of times. So it is a list of steps, each of which may use the values of
// those before it.
//
//     Truth            false, true, or not known
//     Known            what is known of a number: its places at the cuts, whether it is an integer, and so on
//     KleeneFormula    the steps; its value is that of the last one
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace constraints {

enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

struct Known {
  std::span<const int32_t> places;  // by cut, a set of possible places, as bits
  Truth integer, plain;
  std::span<const Truth> multiples;  // by step
};

class KleeneFormula {
 public:
  // Each function returns the number of a new step.
  int32_t constant(bool value) { return add({Kind::kConstant, value, 0}); }
  // Add the statement that the place at a cut is one of `places`, a set as bits.
  int32_t place(int32_t cut, int32_t places) { return add({Kind::kPlace, cut, places}); }
  int32_t integer() { return add({Kind::kInteger, 0, 0}); }
  int32_t plain() { return add({Kind::kPlain, 0, 0}); }
  int32_t multiple(int32_t step) { return add({Kind::kMultiple, step, 0}); }
  int32_t negation(int32_t part) { return add({Kind::kNot, part, 0}); }
  int32_t every(std::span<const int32_t> parts) { return join(Kind::kEvery, parts); }
  int32_t some(std::span<const int32_t> parts) { return join(Kind::kSome, parts); }

  int32_t num_steps() const { return static_cast<int32_t>(steps_.size()); }
  // Return how many cuts and steps of multiples the formula asks about.
  int32_t num_cuts() const { return num_cuts_; }
  int32_t num_multiples() const { return num_multiples_; }
  // Return the truth of a formula with at least one step.
  Truth operator()(const Known& known) const;

 private:
  enum class Kind : uint8_t { kConstant, kPlace, kInteger, kPlain, kMultiple, kNot, kEvery, kSome };
  // The parts of a conjunction or disjunction are parts_[first] up to parts_[last].
  struct Step {
    Kind kind;
    int32_t first, last;
  };

  int32_t add(const Step& step);
  int32_t join(Kind kind, std::span<const int32_t> parts);
  Truth value(const Step& step, const Known& known, std::span<const Truth> values) const;

  std::vector<Step> steps_;
  std::vector<int32_t> parts_;
  int32_t num_cuts_ = 0, num_multiples_ = 0;
};

}  // namespace constraints
