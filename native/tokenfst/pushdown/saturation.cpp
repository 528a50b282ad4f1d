#include "tokenfst/pushdown/saturation.h"

#include <algorithm>
#include <utility>

#include "support/bits.h"
#include "support/prefetch.h"

namespace tokenfst {

namespace {

// How many landings ahead the crossed columns of a push are fetched.
constexpr size_t kAhead = 8;

}  // namespace

Saturation::Saturation(const Kinds& kinds, int32_t end, const PopColumns& columns, const Pushes& pushes,
                       const PushSets& sets, int32_t num_symbols, Budget& budget)
    : kinds_(kinds),
      end_(end),
      columns_(columns),
      pushes_(pushes),
      push_sets_(sets),
      num_symbols_(num_symbols),
      budget_(budget),
      longer_{Vector<int32_t>(budget), Vector<int32_t>(budget)},
      is_left_behind_(pushes.size(), false, budget),
      word_offsets_(budget),
      column_words_(budget),
      first_in_word_(budget),
      zero_offsets_(budget),
      zeros_(budget),
      fresh_(1, Fresh{0, kDead, 0}, budget),
      fresh_words_(budget),
      first_fresh_(sets.size(), kDead, budget),
      last_fresh_(sets.size(), kDead, budget),
      landed_(budget),
      landed_ends_(budget),
      groups_(budget),
      due_(1, kDead, budget),
      idle_(sets.size(), kDead, budget),
      landed_offsets_(budget),
      has_landed_(budget),
      has_ended_(pushes.size(), false, budget),
      known_(sets.size(), support::words_for(columns.size()), 0, budget),
      new_known_(sets.size(), support::words_for(columns.size()), 0, budget),
      crossed_(pushes.size(), support::words_for(columns.size()), 0, budget),
      new_crossed_(pushes.size(), support::words_for(columns.size()), 0, budget),
      changed_pushes_(budget),
      changed_sets_(budget),
      ending_(budget),
      is_changed_(pushes.size(), false, budget),
      is_set_changed_(sets.size(), false, budget),
      changed_words_(budget),
      group_ends_(sets.size(), 0, budget),
      ungrouped_(budget) {}

void Saturation::run() {
  find_words();
  find_pushes();
  find_zeros();
  land_at_targets();
  // Distances at which something is due are added during the loop.
  for (int32_t distance = 0; distance < static_cast<int32_t>(due_.size()); ++distance) {
    meet(distance);
    group_landed(distance);
    add_fresh(distance);
  }
}

void Saturation::find_words() {
  word_offsets_.push_back(0);
  for (int32_t symbol = 0; symbol < num_symbols_; ++symbol) {
    const auto own = columns_.of(symbol);
    for (size_t place = 0; place < own.size(); ++place) {
      const int32_t word = own[place].column / kBits;
      if (place == 0 || own[place - 1].column / kBits != word) {
        column_words_.push_back({word, 0});
        first_in_word_.push_back(static_cast<int32_t>(place));
      }
      column_words_.back().bits |= uint32_t{1} << own[place].column % kBits;
    }
    word_offsets_.push_back(static_cast<int32_t>(column_words_.size()));
    budget_.spend(static_cast<int64_t>(own.size()) + 1);
  }
}

// Find the pushes with one more symbol, and reserve room for their landings.
void Saturation::find_pushes() {
  const auto before = [&](size_t push) {
    const auto& longer = pushes_[static_cast<int32_t>(push)];
    return longer.symbol == Pushes::kNoSymbol ? pushes_.size() : longer.before;
  };
  longer_ = support::grouped(pushes_.size() + 1, pushes_.size(), before, budget_);
  int64_t words = 0;
  for (int32_t push = 0; push < pushes_.size(); ++push) {
    landed_offsets_.push_back(words);
    is_left_behind_[push] = !push_sets_.with(push).empty();
    const int32_t symbol = pushes_[push].symbol;
    if (symbol != Pushes::kNoSymbol) words += word_offsets_[symbol + 1] - word_offsets_[symbol];
  }
  has_landed_.assign(words, 0);
  budget_.spend(words / 2 + pushes_.size());
}

void Saturation::find_zeros() {
  struct Zero {
    int32_t kind, column;
    auto operator<=>(const Zero&) const = default;
  };
  Vector<Zero> all(budget_);
  Vector<int32_t> column_of(kinds_.size(), kDead, budget_);
  for (int32_t symbol = 0; symbol < num_symbols_; ++symbol) {
    for (const PopColumns::Popped& popped : columns_.of(symbol)) column_of[popped.kind] = popped.column;
    for (const auto& [kind, child] : kinds_.children(symbol)) all.push_back({kind, column_of[child]});
    budget_.spend(16 * static_cast<int64_t>(kinds_.children(symbol).size()) + 1);
  }
  all.push_back({end_, PopColumns::kEndColumn});
  std::ranges::sort(all);
  auto zero = all.begin();
  for (int32_t kind = 0; kind < kinds_.size(); ++kind) {
    zero_offsets_.push_back(static_cast<int32_t>(zeros_.size()));
    for (; zero != all.end() && zero->kind == kind; ++zero) {
      const int32_t word = zero->column / kBits;
      if (zero_offsets_.back() == static_cast<int32_t>(zeros_.size()) || zeros_.back().word != word)
        zeros_.push_back({word, 0});
      zeros_.back().bits |= uint32_t{1} << zero->column % kBits;
    }
  }
  zero_offsets_.push_back(static_cast<int32_t>(zeros_.size()));
  budget_.spend(kinds_.size());
}

void Saturation::land_at_targets() {
  for (int32_t push : longer_[pushes_.size()]) landed_.push_back({push, ~pushes_[push].before});
}

// Land a push of one more symbol where columns of that symbol lead; return the amount of work.
int64_t Saturation::land(int32_t push, ColumnSpan columns) {
  const int32_t symbol = pushes_[push].symbol;
  const ColumnSpan own =
      ColumnSpan(column_words_).subspan(word_offsets_[symbol], word_offsets_[symbol + 1] - word_offsets_[symbol]);
  uint32_t* has_landed = has_landed_.data() + landed_offsets_[push];
  const size_t before = landed_.size();
  auto at = own.begin();
  for (const auto& [word, bits] : columns) {
    at = std::ranges::lower_bound(at, own.end(), word, {}, &ColumnWord::word);
    if (at == own.end()) break;
    if (at->word != word) continue;
    const auto place = static_cast<size_t>(at - own.begin());
    const uint32_t fresh = bits & at->bits & ~has_landed[place];
    has_landed[place] |= fresh;
    const int32_t first = first_in_word_[word_offsets_[symbol] + place];
    for (uint32_t left = fresh; left; left &= left - 1) {
      const uint32_t below = (left & -left) - 1;
      landed_.push_back({push, columns_.of(symbol)[first + std::popcount(at->bits & below)].kind});
    }
  }
  return 4 * static_cast<int64_t>(landed_.size() - before + columns.size());
}

void Saturation::meet(int32_t distance) {
  // What lands during the loops lands at this distance; groups wait for later ones.
  const size_t begin = distance ? landed_ends_.back() : 0;
  for (int32_t group = due_[distance]; group != kDead;) {
    Group& own = groups_[group];
    own.last_met = own.last_met == kDead ? first_fresh_[set_of(own)] : fresh_[own.last_met].next;
    const ColumnSpan columns = columns_at(own.last_met);
    for (size_t at = own.begin; at < own.end; ++at) {
      if (at + kAhead < own.end) prefetch_crossed(landed_[at + kAhead].push, columns);
      go_on(landed_[at].push, columns);
    }
    const int32_t next = own.next;
    wait(group);
    group = next;
  }
  for (size_t at = begin; at < landed_.size(); ++at) {
    if (at + kAhead < landed_.size()) prefetch_crossed(landed_[at + kAhead].push, zeros_of(landed_[at + kAhead].kind));
    const auto [push, kind] = landed_[at];
    go_on(push, zeros_of(kind));
  }
}

void Saturation::prefetch_crossed(int32_t push, ColumnSpan columns) const {
  if (!columns.empty()) support::prefetch(&crossed_[push][columns[0].word]);
}

void Saturation::go_on(int32_t push, ColumnSpan columns) {
  if (columns.empty()) return budget_.spend(1);
  int64_t steps = 4 + static_cast<int64_t>(columns.size());
  for (int32_t longer : longer_[push]) steps += land(longer, columns);
  if (columns[0].word == 0 && columns[0].bits >> PopColumns::kEndColumn & 1) end(push);
  if (is_left_behind_[push]) {
    const auto crossed = crossed_[push];
    bool any = false;
    for (const auto& [word, bits] : columns) {
      // Mostly no column is fresh, and then there is nothing to write.
      const uint32_t fresh = bits & ~crossed[word];
      if (fresh) new_crossed_[push][word] |= fresh, any = true;
    }
    if (any) change(push);
  }
  budget_.spend(steps);
}

void Saturation::change(int32_t push) {
  if (!std::exchange(is_changed_[push], true)) changed_pushes_.push_back(push);
}

// End a push and all pushes with more symbols under it.
void Saturation::end(int32_t push) {
  if (has_ended_[push]) return;
  ending_.assign(1, push);
  while (!ending_.empty()) {
    const int32_t last = ending_.back();
    ending_.pop_back();
    if (std::exchange(has_ended_[last], true)) continue;
    if (is_left_behind_[last]) {
      new_crossed_[last][0] |= uint32_t{1} << PopColumns::kEndColumn;
      change(last);
    }
    for (int32_t longer : longer_[last]) ending_.push_back(longer);
    budget_.spend(4);
  }
}

void Saturation::group_landed(int32_t distance) {
  const size_t begin = distance ? landed_ends_.back() : 0;
  ungrouped_.assign(landed_.begin() + static_cast<ptrdiff_t>(begin), landed_.end());
  changed_sets_.clear();
  for (const Landed& landed : ungrouped_) {
    const int32_t set = push_sets_.of(landed.kind);
    if (group_ends_[set]++ == 0) changed_sets_.push_back(set);
  }
  size_t end = begin;
  for (int32_t set : changed_sets_) {
    groups_.push_back({end, end + group_ends_[set], distance, kDead, kDead});
    end += std::exchange(group_ends_[set], end);
  }
  for (const Landed& landed : ungrouped_) landed_[group_ends_[push_sets_.of(landed.kind)]++] = landed;
  for (int32_t set : changed_sets_) group_ends_[set] = 0;
  for (size_t group = groups_.size() - changed_sets_.size(); group < groups_.size(); ++group)
    wait(static_cast<int32_t>(group));
  landed_ends_.push_back(landed_.size());
  budget_.spend(8 * static_cast<int64_t>(landed_.size() - begin) + 1);
  changed_sets_.clear();
}

void Saturation::wait(int32_t group) {
  Group& own = groups_[group];
  const int32_t set = set_of(own);
  const int32_t fresh = own.last_met == kDead ? first_fresh_[set] : fresh_[own.last_met].next;
  if (fresh == kDead) {
    own.next = std::exchange(idle_[set], group);
    return;
  }
  const auto distance = static_cast<size_t>(own.distance + fresh_[fresh].distance);
  if (due_.size() <= distance) due_.resize(distance + 1, kDead);
  own.next = std::exchange(due_[distance], group);
}

void Saturation::add_fresh(int32_t distance) {
  for (int32_t push : changed_pushes_) {
    find_changed_words(push);
    const auto sets = push_sets_.with(push);
    for (int32_t set : sets) {
      const auto known = known_[set], found = new_known_[set];
      uint32_t any = 0;
      for (const auto& [word, bits] : changed_words_) {
        const uint32_t fresh = bits & ~known[word];
        found[word] |= fresh;
        any |= fresh;
      }
      if (any && !std::exchange(is_set_changed_[set], true)) changed_sets_.push_back(set);
    }
    budget_.spend(2 * static_cast<int64_t>(changed_words_.size() + 1) * static_cast<int64_t>(sets.size()));
  }
  changed_pushes_.clear();
  for (int32_t set : changed_sets_) add_set(set, distance + 1);
  changed_sets_.clear();
}

// Find the new columns that a push has crossed.
void Saturation::find_changed_words(int32_t push) {
  is_changed_[push] = false;
  changed_words_.clear();
  const auto crossed = crossed_[push], found = new_crossed_[push];
  for (size_t word = 0; word < crossed.size(); ++word) {
    if (!found[word]) continue;
    const uint32_t fresh = std::exchange(found[word], 0) & ~crossed[word];
    crossed[word] |= fresh;
    if (fresh) changed_words_.push_back({static_cast<int32_t>(word), fresh});
  }
  budget_.spend(static_cast<int64_t>(crossed.size()) / 4 + 1);
}

// Make the new columns of a push set fresh, and let groups meet them.
void Saturation::add_set(int32_t set, int32_t distance) {
  is_set_changed_[set] = false;
  const auto known = known_[set], found = new_known_[set];
  for (size_t word = 0; word < known.size(); ++word) {
    if (!found[word]) continue;
    const uint32_t bits = std::exchange(found[word], 0);
    known[word] |= bits;
    fresh_words_.push_back({static_cast<int32_t>(word), bits});
  }
  const auto fresh = static_cast<int32_t>(fresh_.size()) - 1;
  fresh_.back() = {distance, kDead, fresh_.back().first};
  fresh_.push_back({0, kDead, fresh_words_.size()});
  const int32_t before = std::exchange(last_fresh_[set], fresh);
  (before == kDead ? first_fresh_[set] : fresh_[before].next) = fresh;
  budget_.spend(static_cast<int64_t>(known.size()) / 4 + 4);
  for (int32_t group = std::exchange(idle_[set], kDead); group != kDead;) {
    const int32_t next = groups_[group].next;
    wait(group);
    group = next;
    budget_.spend(2);
  }
}

}  // namespace tokenfst
