#include "automata/pushdown/pushdown_tables.h"

#include <algorithm>
#include <utility>

namespace automata {

namespace {

struct StackConfiguration {
  int32_t state, top;
  bool operator==(const StackConfiguration&) const = default;
};

// The configurations that a text leads to, without duplicates.
class Simulation {
 public:
  Simulation(const PushdownTables& tables, Budget& budget)
      : tables_(tables),
        stacks_(budget),
        found_(1, StackConfiguration{tables.start, Stacks::kEmpty}, budget),
        before_(budget),
        budget_(budget) {}

  // Read one byte; return false if more configurations are reached than may be carried.
  bool read(uint8_t byte) {
    std::swap(found_, before_);
    found_.clear();
    const int32_t column = tables_.byte_class[byte];
    for (const StackConfiguration& configuration : before_) {
      for (const PushdownStep& step : tables_.steps_of(configuration.state, column)) {
        budget_.spend(1 + static_cast<int64_t>(found_.size()));
        const int32_t below = popped(stacks_, tables_.sequences[step.pops], configuration.top);
        if (below == kNone) continue;
        const StackConfiguration reached{step.target, pushed(step, below)};
        if (std::ranges::find(found_, reached) == found_.end()) found_.push_back(reached);
      }
      if (found_.size() > static_cast<size_t>(tables_.max_configurations)) return false;
    }
    return true;
  }
  bool may_end() const {
    return std::ranges::any_of(found_, [&](const StackConfiguration& configuration) {
      return std::ranges::any_of(tables_.steps_of(configuration.state, tables_.end_column()), [&](const auto& step) {
        return popped(stacks_, tables_.sequences[step.pops], configuration.top) != kNone;
      });
    });
  }

 private:
  int32_t pushed(const PushdownStep& step, int32_t top) {
    for (int32_t symbol : tables_.sequences[step.pushes]) top = stacks_.push(symbol, top);
    return top;
  }

  const PushdownTables& tables_;
  Stacks stacks_;
  Vector<StackConfiguration> found_, before_;
  Budget& budget_;
};

}  // namespace

PushdownTables::Answer PushdownTables::read(std::span<const uint8_t> text, Budget& budget) const {
  Simulation reading(*this, budget);
  for (size_t place = 0; place < text.size(); ++place) {
    if (!reading.read(text[place])) return {false, static_cast<int64_t>(place) + 1};
    budget.spend(4);
  }
  return {reading.may_end(), -1};
}

bool is_deterministic(std::span<const int32_t> step_offsets, std::span<const int32_t> pops,
                      std::span<const int32_t> parent, Budget& budget) {
  Vector<size_t> last_cell(parent.size(), 0, budget);  // by sequence, one more than the last cell that pops it
  for (size_t cell = 0; cell + 1 < step_offsets.size(); ++cell) {
    const auto own = pops.subspan(step_offsets[cell], step_offsets[cell + 1] - step_offsets[cell]);
    budget.spend(1 + static_cast<int64_t>(own.size()));
    if (own.size() < 2) continue;
    for (const int32_t sequence : own) {
      if (std::exchange(last_cell[sequence], cell + 1) == cell + 1) return false;
    }
    for (int32_t sequence : own) {
      while (sequence != 0) {
        budget.spend(1);
        sequence = parent[sequence];
        if (last_cell[sequence] == cell + 1) return false;
      }
    }
  }
  return true;
}

}  // namespace automata
