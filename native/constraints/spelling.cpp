#include "constraints/spelling.h"

#include "automata/canonical.h"
#include "constraints/escapes.h"
#include "support/utf8.h"

namespace constraints {

namespace {

using automata::ArcsByState;
using automata::ByteArc;
using automata::ByteTables;
using automata::Range;

constexpr int32_t kQuote = 0x22, kBackslash = 0x5C, kFirstLiteral = 0x20, kLastCode = 0x10FFFF;
// Spellings never become a dense table: they are laid out in other automata.
constexpr int64_t kSparse = 0;

[[noreturn]] void fail() { throw std::invalid_argument("the automaton accepts something that is not UTF-8"); }

// The code points that a boundary state reads.
class CodeRuns {
 public:
  CodeRuns(const ArcsByState& arcs, Budget& budget) : arcs_(arcs), runs_(budget), budget_(budget) {}

  std::span<const Run> of(int32_t state) {
    runs_.clear();
    for (const ByteArc& arc : arcs_[state]) {
      if (arc.high < 0x80) {
        add_run(runs_, {arc.low, arc.high, arc.target});
      } else {
        add_leads(arc);
      }
    }
    return runs_;
  }

 private:
  // Add the characters that begin with bytes of an arc, which have the same length.
  void add_leads(const ByteArc& arc) {
    const auto low = static_cast<uint8_t>(arc.low), high = static_cast<uint8_t>(arc.high);
    const int to_come = support::kToCome[support::kAfterLead[low]];
    if (arc.low < support::kFirstLead || arc.high >= support::kLeadEnd ||
        support::kToCome[support::kAfterLead[high]] != to_come) {
      fail();
    }
    const int32_t zero = to_come == 1 ? 0xC0 : to_come == 2 ? 0xE0 : 0xF0;
    add_continuations(arc.target, to_come, low - zero, high - zero);
  }
  // Add the characters that continue at a state with `to_come` more bytes, if the bytes so far encode a number from
  // `low` to `high`.
  void add_continuations(int32_t state, int to_come, int32_t low, int32_t high) {
    const int32_t reached = only_target(state, to_come), shift = 6 * to_come;
    if (reached != kNone) {
      add(low << shift, ((high + 1) << shift) - 1, reached);
      return;
    }
    for (int32_t number = low; number <= high; ++number) {
      const int32_t base = (number << 6) - 0x80;
      for (const ByteArc& arc : arcs_[state]) {
        if (arc.low < 0x80 || arc.high > 0xBF) fail();
        if (to_come == 1) {
          add(base + arc.low, base + arc.high, arc.target);
        } else {
          add_continuations(arc.target, to_come - 1, base + arc.low, base + arc.high);
        }
      }
      budget_.spend(1 + static_cast<int64_t>(arcs_[state].size()));
    }
  }
  void add(int32_t first, int32_t last, int32_t target) {
    // Runs of bytes that encode no character may have been read as if all continuations existed.
    if (first > kLastCode) fail();
    add_run(runs_, {first, std::min(last, kLastCode), target});
  }
  // Return the state that any continuation of `to_come` bytes leads to, kNone if there is none.
  int32_t only_target(int32_t state, int to_come) const {
    for (; to_come > 0; --to_come) {
      const auto own = arcs_[state];
      if (own.size() != 1 || own[0].low != 0x80 || own[0].high != 0xBF) return kNone;
      state = own[0].target;
    }
    return state;
  }

  const ArcsByState& arcs_;
  Vector<Run> runs_;
  Budget& budget_;
};

// Add an arc of the content, without the bytes that cannot be written as they are.
void add_literal(Vector<Range>& ranges, int32_t state, const ByteArc& arc) {
  int32_t low = std::max(arc.low, kFirstLiteral);
  for (int32_t excepted : {kQuote, kBackslash}) {
    if (low > excepted || excepted > arc.high) continue;
    if (low < excepted) ranges.push_back({state, low, excepted - 1, arc.target});
    low = excepted + 1;
  }
  if (low <= arc.high) ranges.push_back({state, low, arc.high, arc.target});
}

// The boundary states, found by a search from the start. States of the content keep their numbers; the start and the
// end come next, and then the nodes of escapes.
class Spelling {
 public:
  Spelling(const ByteTables& content, bool usual, Budget& budget)
      : content_(content),
        arcs_(content, budget),
        begin_(content.num_states()),
        end_(begin_ + 1),
        escapes_(begin_ + 2, usual, budget),
        is_boundary_(content.num_states(), false, budget),
        boundaries_(budget),
        ranges_(budget),
        budget_(budget) {}

  ByteTables tables() {
    ranges_.push_back({begin_, kQuote, kQuote, content_.start});
    reach(content_.start);
    CodeRuns codes(arcs_, budget_);
    for (size_t at = 0; at < boundaries_.size(); ++at) expand(boundaries_[at], codes);
    for (int32_t state = 0; state < begin_; ++state) {
      if (is_boundary_[state]) continue;
      for (const ByteArc& arc : arcs_[state]) ranges_.push_back({state, arc.low, arc.high, arc.target});
      budget_.spend(1 + static_cast<int64_t>(arcs_[state].size()));
    }
    escapes_.add_arcs(ranges_);
    Vector<uint8_t> final(begin_ + 2 + escapes_.num_nodes(), false, budget_);
    final[end_] = true;
    return automata::tabulated(begin_, final, ranges_, kSparse, budget_);
  }

 private:
  void reach(int32_t state) {
    if (is_boundary_[state]) return;
    is_boundary_[state] = true;
    boundaries_.push_back(state);
  }
  void expand(int32_t state, CodeRuns& codes) {
    const auto runs = codes.of(state);
    for (const Run& run : runs) reach(run.target);
    const int32_t escaped = runs.empty() ? kNone : escapes_.after_backslash(runs);
    if (escaped != kNone) ranges_.push_back({state, kBackslash, kBackslash, escaped});
    for (const ByteArc& arc : arcs_[state]) add_literal(ranges_, state, arc);
    if (content_.final[state]) ranges_.push_back({state, kQuote, kQuote, end_});
    budget_.spend(4 * static_cast<int64_t>(runs.size()) + 8);
  }

  const ByteTables& content_;
  const ArcsByState arcs_;
  const int32_t begin_, end_;
  Escapes escapes_;
  Vector<uint8_t> is_boundary_;
  Vector<int32_t> boundaries_;
  Vector<Range> ranges_;
  Budget& budget_;
};

}  // namespace

ByteTables spelled(const ByteTables& content, bool usual, Budget& budget) {
  return Spelling(content, usual, budget).tables();
}

}  // namespace constraints
