#include "tokenfst/canonical/liveness.h"

#include <algorithm>

#include "support/count.h"
#include "tokenfst/canonical/cells.h"

namespace tokenfst::canonical {

namespace {

// The tokens of each class, in groups that no cell distinguishes.
class Grouping {
 public:
  Grouping(const CanonicalEdges& edges, const Cells& cells, Budget& budget)
      : edges_(edges),
        group_(edges.members.size(), 0, budget),
        firsts_(budget),
        begins_(budget),
        keys_(budget),
        budget_(budget) {
    for (int32_t cell = 0; cell < cells.size(); ++cell) {
      const auto least = cells.least(cell);
      if (std::ranges::adjacent_find(least, std::ranges::not_equal_to()) != least.end()) {
        refine(edges.member_offsets[cells[cell].number], least);
      }
      budget.spend(1 + static_cast<int64_t>(least.size()) / 4);
    }
    for (int32_t number = 0; number < edges.num_classes(); ++number) {
      begins_.push_back(static_cast<int32_t>(firsts_.size()));
      note_firsts(number);
    }
    begins_.push_back(static_cast<int32_t>(firsts_.size()));
  }

  int32_t size() const { return static_cast<int32_t>(firsts_.size()); }
  // Return the first group of a class, whose groups are numbered up to the first group of the next class.
  int32_t begin(int32_t number) const { return begins_[number]; }
  // Return the place of a group's first token among those of its class.
  int32_t first(int32_t group) const { return firsts_[group]; }
  // Return the group of a token, by its place among all members.
  int32_t of_member(int32_t number, int32_t member) const { return begins_[number] + group_[member]; }

 private:
  struct SortKey {
    int32_t group, least, member;
    auto operator<=>(const SortKey&) const = default;
  };

  // Split the groups of the tokens from member `begin` on by their numbers, one number for each token.
  void refine(int32_t begin, std::span<const int32_t> least) {
    keys_.clear();
    for (size_t at = 0; at < least.size(); ++at) {
      const int32_t member = begin + static_cast<int32_t>(at);
      keys_.push_back({group_[member], least[at], member});
    }
    std::ranges::sort(keys_);
    int32_t group = 0;
    for (size_t at = 0; at < keys_.size(); ++at) {
      const bool differs = at > 0 && (keys_[at].group != keys_[at - 1].group || keys_[at].least != keys_[at - 1].least);
      group += differs;
      group_[keys_[at].member] = group;
    }
    budget_.spend(16 * static_cast<int64_t>(keys_.size()));
  }
  void note_firsts(int32_t number) {
    const int32_t begin = edges_.member_offsets[number], end = edges_.member_offsets[number + 1];
    const auto own = static_cast<size_t>(begins_.back());
    for (int32_t member = begin; member < end; ++member) {
      const size_t group = own + static_cast<size_t>(group_[member]);
      if (group >= firsts_.size()) firsts_.resize(group + 1, kNone);
      if (firsts_[group] == kNone) firsts_[group] = member - begin;
    }
    budget_.spend(1 + (end - begin));
  }

  const CanonicalEdges& edges_;
  Vector<int32_t> group_;   // of each member, from 0 up within its class
  Vector<int32_t> firsts_;  // by group
  Vector<int32_t> begins_;  // [K + 1]
  Vector<SortKey> keys_;
  Budget& budget_;
};

// Copy every edge once for each group of its class that leads to an end.
LiveEdges split(const CanonicalEdges& edges, const Cells& cells, const Grouping& groups, int32_t num_tokens,
                Budget& budget) {
  LiveEdges found{{}, {}, std::vector<int32_t>(static_cast<size_t>(num_tokens), kNone), groups.size(), kNoEnd};
  Vector<LiveEdge> live(budget);
  budget.charge(4 * (static_cast<size_t>(num_tokens) + edges.offsets.size()));
  for (int32_t state = 0; state < edges.num_states(); ++state) {
    found.offsets.push_back(support::as_count(live.size()));
    for (int32_t edge = edges.offsets[state]; edge < edges.offsets[state + 1]; ++edge) {
      const ClassEdge& own = edges.edges[edge];
      const auto least = cells.least(cells.of_edge(edge));
      for (int32_t group = groups.begin(own.number); group < groups.begin(own.number + 1); ++group) {
        const int32_t rest = least[groups.first(group)];
        if (rest != kNoEnd) live.push_back({group, own.target, rest});
      }
      budget.spend(1 + groups.begin(own.number + 1) - groups.begin(own.number));
    }
  }
  found.offsets.push_back(support::as_count(live.size()));
  found.edges = support::charged_copy(live, budget);
  for (int32_t number = 0; number < edges.num_classes(); ++number) {
    for (int32_t member = edges.member_offsets[number]; member < edges.member_offsets[number + 1]; ++member) {
      found.class_of[edges.members[member]] = groups.of_member(number, member);
    }
  }
  budget.spend(num_tokens);
  return found;
}

}  // namespace

LiveEdges live_edges(const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs, int32_t closing,
                     Budget& budget) {
  Cells cells(edges, budget);
  const int32_t start = find_least(cells, edges, product, pairs, closing, budget);
  const Grouping groups(edges, cells, budget);
  LiveEdges found = split(edges, cells, groups, pairs.num_tokens(), budget);
  found.start = start;
  return found;
}

}  // namespace tokenfst::canonical
