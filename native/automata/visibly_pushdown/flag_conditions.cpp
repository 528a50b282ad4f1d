#include "automata/visibly_pushdown/flag_conditions.h"

#include <algorithm>
#include <stdexcept>

namespace automata {

FlagConditions::FlagConditions(std::span<const Decision> decisions) {
  for (const auto& [flag, low, high] : decisions) {
    const bool is_ordered = has(low) && has(high) && low != high && 0 <= flag && flag < flag_of(low) &&
                            flag < flag_of(high) && decisions_.size() < kMaxDecisions;
    if (!is_ordered || number(flag, low, high) != num_conditions() - 1)
      throw std::invalid_argument("the decisions are not reduced and ordered");
  }
}

int32_t FlagConditions::number(int32_t flag, int32_t low, int32_t high) {
  if (low == high) return low;
  const auto [place, is_new] = numbers_.try_emplace({flag, low, high}, num_conditions());
  if (is_new) {
    if (decisions_.size() >= kMaxDecisions) {
      numbers_.erase(place);
      throw TooManyDecisions();
    }
    decisions_.push_back({flag, low, high});
  }
  return place->second;
}

int32_t FlagConditions::all_of(std::span<const int32_t> flags) {
  int32_t found = kTrue;
  for (const int32_t flag : flags) found = number(flag, kFalse, found);
  return found;
}

int32_t FlagConditions::not_all_of(std::span<const int32_t> flags) {
  int32_t found = kFalse;
  for (const int32_t flag : flags) found = number(flag, kTrue, found);
  return found;
}

int32_t FlagConditions::part(int32_t condition, int32_t flag, bool is_set) const {
  if (flag_of(condition) != flag) return condition;
  return is_set ? decision(condition).high : decision(condition).low;
}

// Return the result for a key: from `at_once`, which returns kNone if it does not know it; from a table; or as a
// decision between the results of the two keys into which `divide` splits it.
template <class AtOnce, class Divide>
int32_t FlagConditions::found(const Key& key, Table& table, AtOnce at_once, Divide divide) {
  const auto look = [&](const Key& asked) {
    const int32_t result = at_once(asked);
    if (result != kNone) return result;
    const auto place = table.find(asked);
    return place == table.end() ? kNone : place->second;
  };
  struct Open {
    Key key;
    Split split;
  };
  if (const int32_t result = look(key); result != kNone) return result;
  std::vector<Open> open{{key, divide(key)}};
  int32_t result = kNone;
  while (!open.empty()) {
    const Open top = open.back();
    const int32_t low = look(top.split.low);
    if (low == kNone) {
      open.push_back({top.split.low, divide(top.split.low)});
      continue;
    }
    const int32_t high = look(top.split.high);
    if (high == kNone) {
      open.push_back({top.split.high, divide(top.split.high)});
      continue;
    }
    if (table.size() >= kMaxKept) throw TooManyDecisions();
    result = table[top.key] = number(top.split.flag, low, high);
    open.pop_back();
  }
  return result;
}

int32_t FlagConditions::choice(int32_t condition, int32_t then, int32_t otherwise) {
  const auto at_once = [](const Key& key) {
    const auto [first, second, third] = key;
    if (first == kTrue || second == third) return second;
    if (first == kFalse) return third;
    return second == kTrue && third == kFalse ? first : kNone;
  };
  const auto divide = [&](const Key& key) {
    const int32_t flag = std::min({flag_of(key[0]), flag_of(key[1]), flag_of(key[2])});
    const auto half = [&](bool is_set) {
      return Key{part(key[0], flag, is_set), part(key[1], flag, is_set), part(key[2], flag, is_set)};
    };
    return Split{flag, half(false), half(true)};
  };
  return found({condition, then, otherwise}, chosen_, at_once, divide);
}

int32_t FlagConditions::known(int32_t condition, int32_t flag, bool is_set) {
  const auto at_once = [&](const Key& key) { return flag_of(key[0]) < flag ? kNone : part(key[0], flag, is_set); };
  const auto divide = [&](const Key& key) {
    const Decision& own = decision(key[0]);
    return Split{own.flag, {own.low, key[1], key[2]}, {own.high, key[1], key[2]}};
  };
  return found({condition, flag, is_set}, known_, at_once, divide);
}

std::vector<int32_t> FlagConditions::fewest(int32_t condition) const {
  constexpr int32_t kNever = INT32_MAX;
  std::unordered_map<int32_t, int32_t> count{{kFalse, kNever}, {kTrue, 0}};
  std::vector<int32_t> reached{condition};
  for (size_t at = 0; at < reached.size(); ++at) {
    if (reached[at] <= kTrue) continue;
    for (const int32_t next : {decision(reached[at]).low, decision(reached[at]).high}) {
      if (count.try_emplace(next, kNever).second) reached.push_back(next);
    }
  }
  // Decisions have greater numbers than those that they lead to.
  std::ranges::sort(reached);
  for (const int32_t each : reached) {
    if (each <= kTrue) continue;
    const auto& [flag, low, high] = decision(each);
    count[each] = std::min(count[low], count[high] == kNever ? kNever : count[high] + 1);
  }
  std::vector<int32_t> flags;
  while (condition > kTrue) {
    const auto& [flag, low, high] = decision(condition);
    const bool is_low = count[low] == count[condition];
    if (!is_low) flags.push_back(flag);
    condition = is_low ? low : high;
  }
  std::ranges::reverse(flags);
  return flags;
}

}  // namespace automata
