#include "decoding/comb.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace decoding {

namespace {

using support::Budget;
using support::Vector;

// Tables with up to this many entries are written out in full.
constexpr int64_t kDenseEntries = 1 << 14;
// A row that fits at none of this many places goes after all others.
constexpr int kMostTries = 512;

// Rows as they are placed.
class FirstFit {
 public:
  FirstFit(const SparseRows& rows, Budget& budget)
      : num_classes_(rows.num_classes),
        taken_(rows.numbers.size() + 2 * static_cast<size_t>(rows.num_classes), false, budget),
        budget_(budget) {}

  // Place a row with some classes, and return where it begins.
  int64_t lay(std::span<const int64_t> classes) {
    int64_t at = std::max(first_free_ - classes.front(), int64_t{0});
    for (int tries = 1; !fits(at, classes); ++tries) {
      at = tries < kMostTries ? at + 1 : std::max(top_ - classes.front(), int64_t{0});
    }
    const int64_t end = at + classes.back() + 1;
    if (end > size()) taken_.resize(2 * static_cast<size_t>(at + num_classes_), false);
    for (int64_t number : classes) taken_[at + number] = true;
    top_ = std::max(top_, end);
    while (first_free_ < size() && taken_[first_free_]) ++first_free_;
    budget_.spend(static_cast<int64_t>(classes.size()));
    return at;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(taken_.size()); }
  bool fits(int64_t at, std::span<const int64_t> classes) {
    const auto free =
        std::ranges::find_if(classes, [&](int64_t number) { return at + number < size() && taken_[at + number]; });
    budget_.spend(1 + (free - classes.begin()));
    return free == classes.end();
  }

  const int64_t num_classes_;
  int64_t first_free_ = 0, top_ = 0;
  Vector<uint8_t> taken_;
  Budget& budget_;
};

// Return the bases of rows, which are placed with the largest rows first.
Vector<int64_t> first_fit(const SparseRows& rows, Budget& budget) {
  Vector<int32_t> order(rows.size(), budget);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int32_t row) { return rows.classes(row).size(); });
  Vector<int64_t> base(rows.size(), 0, budget);
  FirstFit fit(rows, budget);
  for (int32_t row : order) {
    if (!rows.classes(row).empty()) base[row] = fit.lay(rows.classes(row));
  }
  return base;
}

Vector<int64_t> side_by_side(const SparseRows& rows, Budget& budget) {
  Vector<int64_t> base(rows.size(), budget);
  for (int32_t row = 0; row < rows.size(); ++row) base[row] = int64_t{row} * rows.num_classes;
  return base;
}

}  // namespace

Comb comb(const SparseRows& rows, Budget& budget) {
  const bool is_small = int64_t{rows.size()} * rows.num_classes <= kDenseEntries;
  const Vector<int64_t> base = is_small ? side_by_side(rows, budget) : first_fit(rows, budget);
  const int64_t size = (base.empty() ? 0 : std::ranges::max(base)) + rows.num_classes;
  if (2 * size > std::numeric_limits<int32_t>::max()) {
    throw support::LimitExceeded(support::Limit::kMemory, static_cast<double>(budget.max_bytes()));
  }
  budget.charge(static_cast<size_t>(size) * sizeof(Entry) + base.size() * sizeof(int32_t));
  Comb found{{base.begin(), base.end()}, std::vector<Entry>(static_cast<size_t>(size), {-1, -1})};
  for (int32_t row = 0; row < rows.size(); ++row) {
    for (int64_t edge = rows.offsets[row]; edge < rows.offsets[row + 1]; ++edge) {
      found.entries[base[row] + rows.numbers[edge]] = {row, static_cast<int32_t>(rows.outcomes[edge])};
    }
    budget.spend(1 + rows.offsets[row + 1] - rows.offsets[row]);
  }
  return found;
}

}  // namespace decoding
