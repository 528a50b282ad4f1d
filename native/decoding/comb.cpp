#include "decoding/comb.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace decoding {

namespace {

using support::Budget;
using support::Vector;

// Tables with up to this many entries are written out in full.
constexpr int64_t kDenseEntries = 1 << 14;
// A row that fits at none of this many places goes after all others. Places are looked at 64 at a time.
constexpr int64_t kBits = 64, kMaxPlaces = 8 * kBits;

// Families as they are placed.
class FirstFit {
 public:
  FirstFit(const SparseRows& rows, Budget& budget) : num_classes_(rows.num_classes), taken_(budget), budget_(budget) {
    reserve(static_cast<int64_t>(rows.edges.size()));
  }

  // Place a family with some edges, and return where it begins.
  int64_t lay(std::span<const RowEdge> edges) {
    reserve(top_);
    const int64_t at = place_of(edges);
    for (const RowEdge& edge : edges) taken_[(at + edge.number) / kBits] |= uint64_t{1} << (at + edge.number) % kBits;
    top_ = std::max(top_, at + edges.back().number + 1);
    for (int run = 1; run; first_free_ += run) run = std::countr_one(taken_from(first_free_));
    budget_.spend(static_cast<int64_t>(edges.size()));
    return at;
  }

 private:
  // Make room for all places that may be looked at if families end before `end`.
  void reserve(int64_t end) {
    const auto words = static_cast<size_t>((end + num_classes_ + kMaxPlaces) / kBits + 2);
    if (words > taken_.size()) taken_.resize(2 * words, 0);
  }
  // Return whether the entries from one on are taken, as bits.
  uint64_t taken_from(int64_t at) const {
    const auto word = static_cast<size_t>(at / kBits);
    const int64_t shift = at % kBits;
    return shift ? taken_[word] >> shift | taken_[word + 1] << (kBits - shift) : taken_[word];
  }
  int64_t place_of(std::span<const RowEdge> edges) {
    const int64_t first = std::max(first_free_ - edges.front().number, int64_t{0});
    for (int64_t at = first; at < first + kMaxPlaces; at += kBits) {
      uint64_t fits = ~uint64_t{0};
      size_t checked = 0;
      for (; fits && checked < edges.size(); ++checked) fits &= ~taken_from(at + edges[checked].number);
      budget_.spend(1 + static_cast<int64_t>(checked));
      if (fits) return at + std::countr_zero(fits);
    }
    return std::max(top_ - edges.front().number, int64_t{0});
  }

  const int64_t num_classes_;
  int64_t first_free_ = 0, top_ = 0;  // the first entry that is free, and the first after all that are taken
  Vector<uint64_t> taken_;            // bits
  Budget& budget_;
};

// Return the bases of families, which are placed with the largest ones first.
Vector<int64_t> first_fit(const SparseRows& rows, Budget& budget) {
  Vector<int32_t> order(rows.num_families(), budget);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int32_t family) { return rows.family(family).size(); });
  Vector<int64_t> base(rows.num_families(), 0, budget);
  FirstFit fit(rows, budget);
  for (int32_t family : order) {
    if (!rows.family(family).empty()) base[family] = fit.lay(rows.family(family));
  }
  return base;
}

Vector<int64_t> side_by_side(const SparseRows& rows, Budget& budget) {
  Vector<int64_t> base(rows.num_families(), budget);
  for (int32_t family = 0; family < rows.num_families(); ++family) base[family] = int64_t{family} * rows.num_classes;
  return base;
}

}  // namespace

Comb comb(const SparseRows& rows, Budget& budget) {
  const bool is_small = int64_t{rows.num_families()} * rows.num_classes <= kDenseEntries;
  const Vector<int64_t> base = is_small ? side_by_side(rows, budget) : first_fit(rows, budget);
  const int64_t size = (base.empty() ? 0 : std::ranges::max(base)) + rows.num_classes;
  if (2 * size > std::numeric_limits<int32_t>::max()) {
    throw support::LimitExceeded(support::Limit::kMemory, static_cast<double>(budget.max_bytes()));
  }
  budget.charge(static_cast<size_t>(size) * sizeof(Entry) + static_cast<size_t>(rows.size()) * sizeof(RowComb));
  Comb found{{}, std::vector<Entry>(static_cast<size_t>(size), {-1, -1})};
  found.rows.reserve(static_cast<size_t>(rows.size()));
  for (int32_t family = 0; family < rows.num_families(); ++family) {
    const int32_t first = rows.first[family];
    for (int32_t row = first; row < rows.first[family + 1]; ++row)
      found.rows.push_back({static_cast<int32_t>(base[family]), first});
    for (const RowEdge& edge : rows.family(family))
      found.entries[base[family] + edge.number] = {first + edge.level, edge.outcome};
    budget.spend(1 + static_cast<int64_t>(rows.family(family).size()));
  }
  return found;
}

}  // namespace decoding
