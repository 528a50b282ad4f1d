#include "tokenfst/pushdown/state.h"

#include <algorithm>

namespace tokenfst {

PushdownState::PushdownState(std::vector<Configuration> configurations) {
  std::ranges::sort(configurations, std::less());
  const auto repeated = std::ranges::unique(configurations);
  configurations.erase(repeated.begin(), repeated.end());
  if (configurations.size() == 1) {
    first_ = std::move(configurations[0]);
  } else {
    several_ = std::make_unique<std::vector<Configuration>>(std::move(configurations));
  }
}

uint64_t PushdownState::hash() const {
  uint64_t hash = size();
  for (const Configuration& each : configurations()) hash = support::mixed(hash, each.hash());
  return hash;
}

bool operator==(const PushdownState& left, const PushdownState& right) {
  return std::ranges::equal(left.configurations(), right.configurations());
}

}  // namespace tokenfst
