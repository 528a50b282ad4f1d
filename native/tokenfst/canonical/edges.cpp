#include "tokenfst/canonical/edges.h"

#include "support/csr.h"
#include "tokenfst/token_classes.h"

namespace tokenfst::canonical {

namespace {

using support::Groups;

// Collects edges, and the class of every token.
class Collector {
 public:
  Collector(const CanonicalProduct& product, const Tokens& tokens, Budget& budget)
      : product_(product),
        tokens_(tokens),
        edges_(budget),
        class_of_(static_cast<size_t>(tokens.vocabulary.size()), kNever, budget),
        budget_(budget) {
    const TokenClasses classes = token_classes(product.automaton, tokens.vocabulary, budget);
    num_classes_ = classes.num_classes;
    edges_.assign(classes.edges.begin(), classes.edges.end());
    int32_t rank = 0;
    for (const ClassRun& run : classes.runs) {
      for (; rank < run.end; ++rank) class_of_[tokens.vocabulary.token_of_rank()[rank]] = run.number;
    }
    for (int32_t token : tokens.never) class_of_[token] = kNever;
    budget.spend(tokens.vocabulary.size());
  }

  void add_words() {
    // Edges come in order of their classes.
    const auto num_edges = static_cast<int64_t>(edges_.size());
    for (int32_t word : tokens_.words) {
      const auto begin = std::ranges::lower_bound(edges_.begin(), edges_.begin() + num_edges, class_of_[word], {},
                                                  &TokenEdge::number) -
                         edges_.begin();
      for (auto at = begin; at < num_edges && edges_[at].number == class_of_[word] && class_of_[word] != kNever; ++at) {
        const TokenEdge edge = edges_[at];
        const int32_t reached = product_.whole[edge.target];
        if (product_.begins[edge.source] && reached != kNone) edges_.push_back({edge.source, num_classes_, reached});
      }
      class_of_[word] = num_classes_++;
      budget_.spend(32);
    }
  }
  void add_labelled(const LabelledTokens& labelled) {
    for (int32_t label : labelled.labels) {
      for (int32_t state = 0; state < product_.num_states(); ++state) {
        const int32_t target = product_.by_label[static_cast<size_t>(state) * product_.num_labels + label];
        if (target != kNone) edges_.push_back({state, num_classes_, target});
      }
      budget_.spend(product_.num_states());
    }
    for (int32_t token : labelled.tokens) class_of_[token] = num_classes_;
    ++num_classes_;
  }

  CanonicalEdges sorted() const {
    CanonicalEdges found;
    found.num_tokens = tokens_.vocabulary.size();
    take_members(found);
    take_edges(found);
    return found;
  }

 private:
  // Take the tokens by class and then by position, without those in no class.
  void take_members(CanonicalEdges& found) const {
    const auto& token_at = tokens_.pairs.token_at;
    const Groups groups = support::grouped(
        num_classes_, token_at.size(), [&](size_t place) { return class_of_[token_at[place]]; }, budget_);
    budget_.charge(4 * (groups.offsets.size() + groups.order.size()));
    found.member_offsets.assign(groups.offsets.begin(), groups.offsets.end());
    const int32_t first = groups.offsets[kNever + 1];
    for (int32_t& offset : found.member_offsets) offset = std::max(offset - first, 0);
    for (int32_t place : groups.order) found.members.push_back(token_at[place]);
    found.members.erase(found.members.begin(), found.members.begin() + first);
  }
  // Take the edges by source and then by class, only for classes with tokens.
  void take_edges(CanonicalEdges& found) const {
    const Groups by_class =
        support::grouped(num_classes_, edges_.size(), [&](size_t edge) { return edges_[edge].number; }, budget_);
    const Groups by_source = support::grouped(
        product_.num_states(), edges_.size(), [&](size_t place) { return edges_[by_class.order[place]].source; },
        budget_);
    budget_.charge(sizeof(ClassEdge) * edges_.size() + 4 * by_source.offsets.size());
    found.edges.reserve(edges_.size());
    for (int32_t state = 0; state < product_.num_states(); ++state) {
      found.offsets.push_back(static_cast<int32_t>(found.edges.size()));
      for (int32_t place : by_source[state]) {
        const TokenEdge& edge = edges_[by_class.order[place]];
        if (!found.members_of(edge.number).empty()) found.edges.push_back({edge.number, edge.target});
      }
      budget_.spend(1 + static_cast<int64_t>(by_source[state].size()));
    }
    found.offsets.push_back(static_cast<int32_t>(found.edges.size()));
  }

  const CanonicalProduct& product_;
  const Tokens& tokens_;
  Vector<TokenEdge> edges_;
  Vector<int32_t> class_of_;
  int32_t num_classes_ = 0;
  Budget& budget_;
};

}  // namespace

CanonicalEdges token_edges(const CanonicalProduct& product, const Tokens& tokens,
                           std::span<const LabelledTokens> labelled, Budget& budget) {
  Collector collector(product, tokens, budget);
  collector.add_words();
  for (const LabelledTokens& own : labelled) collector.add_labelled(own);
  return collector.sorted();
}

}  // namespace tokenfst::canonical
