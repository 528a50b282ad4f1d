#include "automata/pushdown/provisional_ends.h"

#include <algorithm>
#include <utility>

namespace automata {

namespace {

constexpr int32_t kOther = -1, kLater = 0;

// Return how many bytes follow the first byte of a character of several bytes; kLater or kOther for other bytes
// (Unicode, table 3-7).
int32_t role_of(int32_t byte) {
  if (0x80 <= byte && byte <= 0xBF) return kLater;
  if (0xC2 <= byte && byte <= 0xDF) return 1;
  if (0xE0 <= byte && byte <= 0xEF) return 2;
  return 0xF0 <= byte && byte <= 0xF4 ? 3 : kOther;
}

}  // namespace

ProvisionalEnds::ProvisionalEnds(const RuleNetwork& rules, PushdownNetwork& network, ColumnSets& sets, Budget& budget)
    : network_(network),
      budget_(budget),
      bytes_after_(rules.num_classes, 0, budget),
      later_bytes_(budget),
      reached_over_(budget),
      conditions_(budget),
      asked_(budget),
      made_(budget),
      reads_(budget),
      state_of_made_(budget),
      originals_(budget),
      readers_(budget) {
  constexpr int32_t kNotSeen = -2;
  Vector<int32_t> role(rules.num_classes, kNotSeen, budget);
  for (size_t byte = 0; byte < rules.byte_class.size(); ++byte) {
    int32_t& known = role[rules.byte_class[byte]];
    const int32_t own = role_of(static_cast<int32_t>(byte));
    known = known == kNotSeen || known == own ? own : kOther;
  }
  for (int32_t column = 0; column < rules.num_classes; ++column) {
    if (role[column] == kLater) later_bytes_.push_back(column);
    if (role[column] <= kLater) continue;
    bytes_after_[column] = role[column];
    first_bytes_ = sets.either(first_bytes_, sets.one(column));
  }
}

int32_t ProvisionalEnds::condition(int32_t column, Vector<int32_t> states) {
  return interned(bytes_after_[column], std::move(states));
}

int32_t ProvisionalEnds::interned(int32_t num_left, Vector<int32_t> states) {
  sort_unique(states);
  conditions_.discard();
  conditions_.push(num_left);
  for (int32_t state : states) conditions_.push(state);
  budget_.spend(4 + 4 * static_cast<int64_t>(states.size()));
  return conditions_.close().number;
}

// Return the condition after another byte; kNone if none of the words continues with it.
int32_t ProvisionalEnds::next(int32_t condition, int32_t column) {
  Vector<int32_t> reached(budget_);
  for (int32_t state : conditions_[condition].subspan(1)) {
    const int32_t target = network_.row(state)[column];
    if (target != kNone) reached.push_back(target);
  }
  return reached.empty() ? kNone : interned(num_left(condition) - 1, std::move(reached));
}

bool ProvisionalEnds::reads(int32_t state, int32_t condition) {
  if (num_left(condition) == 0) return false;
  const int32_t known = asked_.find({state, condition});
  if (known != support::HashIndex::kAbsent) return reads_[known];
  const bool found = std::ranges::any_of(later_bytes_, [&](int32_t column) {
    const int32_t target = network_.row(state)[column];
    if (target == kNone) return false;
    const int32_t left = next(condition, column);
    return left == kNone || reads(target, left);
  });
  budget_.spend(8 + static_cast<int64_t>(later_bytes_.size()));
  asked_.intern({state, condition});
  reads_.push_back(found);
  return found;
}

bool ProvisionalEnds::any_reads(int32_t column, int32_t condition) {
  if (reached_over_.empty()) reached_over_.assign(bytes_after_.size(), Vector<int32_t>(budget_));
  Vector<int32_t>& reached = reached_over_[column];
  if (reached.empty()) {
    for (int32_t state = 0; state <= network_.end_state(); ++state) {
      const int32_t target = network_.row(state)[column];
      if (target != kNone) reached.push_back(target);
    }
    sort_unique(reached);
    budget_.spend(4 * static_cast<int64_t>(network_.end_state()));
  }
  return std::ranges::any_of(reached, [&](int32_t state) { return reads(state, condition); });
}

int32_t ProvisionalEnds::state_on(int32_t state, int32_t condition) {
  if (!reads(state, condition)) return kNone;
  const int32_t known = made_.find({state, condition});
  if (known != support::HashIndex::kAbsent) return state_of_made_[known];
  Vector<int32_t> row(network_.row(state).size(), kNone, budget_);
  for (int32_t column : later_bytes_) {
    const int32_t target = network_.row(state)[column];
    if (target == kNone) continue;
    const int32_t left = next(condition, column);
    row[column] = left == kNone ? target : state_on(target, left);
  }
  const int32_t found = network_.add_reader(network_.rule_of(state), row);
  made_.intern({state, condition});
  state_of_made_.push_back(found);
  return found;
}

int32_t ProvisionalEnds::reader(int32_t state) {
  const int32_t known = originals_.find(state);
  if (known != support::HashIndex::kAbsent) return readers_[known];
  const auto row = network_.row(state);
  const int32_t found = network_.add_reader(network_.rule_of(state), Vector<int32_t>(row.begin(), row.end(), budget_));
  originals_.intern(state);
  readers_.intern(found);
  return found;
}

}  // namespace automata
