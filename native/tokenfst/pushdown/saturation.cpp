#include "tokenfst/pushdown/saturation.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tokenfst {

namespace {

constexpr int32_t kBits = 64;

size_t words_of(int32_t columns) { return (static_cast<size_t>(columns) + kBits - 1) / kBits; }

template <class Visit>
void for_each_bit(uint64_t word, Visit visit) {
  for (; word; word &= word - 1) visit(std::countr_zero(word));
}

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
      zeros_(kinds.size(), words_of(columns.size()), 0, budget),
      lowest_(columns.size(), sets.size(), kFar, budget),
      levels_(budget),
      fresh_(budget),
      block_of_set_(sets.size(), kDead, budget),
      landed_offsets_(budget),
      has_landed_(budget),
      has_ended_(pushes.size(), false, budget),
      known_(sets.size(), words_of(columns.size()), 0, budget),
      new_known_(sets.size(), words_of(columns.size()), 0, budget),
      way_(pushes.size(), words_of(columns.size()), 0, budget),
      new_way_(pushes.size(), words_of(columns.size()), 0, budget),
      changed_pushes_(budget),
      changed_sets_(budget),
      ending_(budget),
      is_changed_(pushes.size(), false, budget),
      is_set_changed_(sets.size(), false, budget) {}

void Saturation::run() {
  find_words();
  find_pushes();
  find_zeros();
  land_at_targets();
  for (int32_t distance = 0; distance <= last_fresh_ + last_landed_; ++distance) {
    meet(distance);
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
        column_words_.push_back({word, 0, static_cast<int32_t>(place)});
      }
      column_words_.back().mask |= uint64_t{1} << own[place].column % kBits;
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
  Vector<int32_t> column_of(kinds_.size(), kDead, budget_);
  for (int32_t symbol = 0; symbol < num_symbols_; ++symbol) {
    for (const PopColumns::Popped& popped : columns_.of(symbol)) column_of[popped.kind] = popped.column;
    for (int32_t kind = 0; kind < kinds_.size(); ++kind) {
      const int32_t child = kinds_.child(kind, symbol);
      if (child != kDead) zeros_[kind][column_of[child] / kBits] |= uint64_t{1} << column_of[child] % kBits;
    }
    budget_.spend(2 * int64_t{kinds_.size()});
  }
  zeros_[end_][0] |= uint64_t{1} << PopColumns::kEndColumn;
}

Saturation::DistanceLevel& Saturation::level(int32_t distance) {
  while (static_cast<int32_t>(levels_.size()) <= distance) levels_.emplace_back(budget_);
  return levels_[distance];
}

void Saturation::land_at_targets() {
  for (int32_t push : longer_[pushes_.size()]) level(0).landed.push_back({push, ~pushes_[push].before});
}

// Land a push of one more symbol where columns of that symbol lead; return the amount of work.
int64_t Saturation::land(int32_t push, std::span<const uint64_t> columns, int32_t distance) {
  const int32_t symbol = pushes_[push].symbol;
  uint64_t* has_landed = has_landed_.data() + landed_offsets_[push];
  int64_t found = 0;
  for (int32_t at = word_offsets_[symbol]; at < word_offsets_[symbol + 1]; ++at, ++has_landed) {
    const ColumnWord& word = column_words_[at];
    const uint64_t fresh = columns[word.word] & word.mask & ~*has_landed;
    *has_landed |= fresh;
    for_each_bit(fresh, [&](int bit) {
      const int32_t place = word.first + std::popcount(word.mask & ((uint64_t{1} << bit) - 1));
      levels_[distance].landed.push_back({push, columns_.of(symbol)[place].kind});
      ++found;
    });
  }
  if (found) last_landed_ = std::max(last_landed_, distance);
  return 4 * found + word_offsets_[symbol + 1] - word_offsets_[symbol];
}

void Saturation::meet(int32_t distance) {
  level(distance);
  const size_t words = zeros_.columns();
  for (int32_t after = 0; after < distance; ++after) {
    const DistanceLevel& fresh = levels_[distance - after];
    if (fresh.sets.empty() || levels_[after].landed.empty()) continue;
    for (size_t at = 0; at < fresh.sets.size(); ++at) block_of_set_[fresh.sets[at]] = static_cast<int32_t>(at);
    // By number, since levels may move; no landing is added to this level.
    for (size_t at = 0; at < levels_[after].landed.size(); ++at) {
      const Landed landed = levels_[after].landed[at];
      const int32_t block = block_of_set_[push_sets_.of(landed.kind)];
      if (block != kDead)
        go_on(landed, std::span(fresh_).subspan(levels_[distance - after].first_bits + block * words, words), distance);
    }
    for (int32_t set : levels_[distance - after].sets) block_of_set_[set] = kDead;
    budget_.spend(2 * static_cast<int64_t>(levels_[after].landed.size() + levels_[distance - after].sets.size()));
  }
  // Landings are added during the loop.
  for (size_t at = 0; at < levels_[distance].landed.size(); ++at) {
    const Landed landed = levels_[distance].landed[at];
    go_on(landed, zeros_[landed.kind], distance);
  }
}

void Saturation::go_on(const Landed& landed, std::span<const uint64_t> columns, int32_t distance) {
  int64_t steps = 4;
  for (int32_t longer : longer_[landed.push]) steps += land(longer, columns, distance);
  if (columns[0] >> PopColumns::kEndColumn & 1) end(landed.push);
  if (is_left_behind_[landed.push]) {
    const auto way = new_way_[landed.push];
    for (size_t word = 0; word < columns.size(); ++word) way[word] |= columns[word];
    change(landed.push);
    steps += static_cast<int64_t>(columns.size()) / 2;
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
      new_way_[last][0] |= uint64_t{1} << PopColumns::kEndColumn;
      change(last);
    }
    for (int32_t longer : longer_[last]) ending_.push_back(longer);
    budget_.spend(4);
  }
}

void Saturation::add_fresh(int32_t distance) {
  const size_t words = zeros_.columns();
  for (int32_t push : changed_pushes_) {
    is_changed_[push] = false;
    const auto way = way_[push], found = new_way_[push];
    uint64_t any = 0;
    for (size_t word = 0; word < words; ++word) {
      found[word] &= ~way[word];
      way[word] |= found[word];
      any |= found[word];
    }
    const auto sets = any ? push_sets_.with(push) : std::span<const int32_t>();
    for (int32_t set : sets) {
      const auto known = new_known_[set];
      for (size_t word = 0; word < words; ++word) known[word] |= found[word];
      if (!std::exchange(is_set_changed_[set], true)) changed_sets_.push_back(set);
    }
    budget_.spend(static_cast<int64_t>(words / 4 + 1) * static_cast<int64_t>(2 + sets.size()));
    std::ranges::fill(found, 0);
  }
  changed_pushes_.clear();
  level(distance + 1).first_bits = fresh_.size();
  for (int32_t set : changed_sets_) add_set(set, distance + 1);
  changed_sets_.clear();
}

void Saturation::add_set(int32_t set, int32_t distance) {
  is_set_changed_[set] = false;
  const auto known = known_[set], found = new_known_[set];
  uint64_t any = 0;
  for (size_t word = 0; word < known.size(); ++word) {
    found[word] &= ~known[word];
    known[word] |= found[word];
    any |= found[word];
    for_each_bit(found[word], [&](int bit) { lowest_[word * kBits + bit][set] = distance; });
    budget_.spend(2 + 2 * std::popcount(found[word]));
  }
  if (any) {
    fresh_.insert(fresh_.end(), found.begin(), found.end());
    levels_[distance].sets.push_back(set);
    last_fresh_ = distance;
  }
  std::ranges::fill(found, 0);
}

}  // namespace tokenfst
