#include "tokenfst/lazy/characters.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace tokenfst {

using support::kAfterContinuation;
using support::kAfterLead;
using support::kFirstLead;
using support::kLeadEnd;
using support::kNextHigh;
using support::kNextLow;
using support::kWhole;

namespace {

// At least this many ASCII bytes that lead to one state make a text.
constexpr int32_t kTextBytes = 10;
// A search for a cover visits at most `kMaxStates` states, and beyond length `kLongCover` at most `kMaxForLong`.
constexpr size_t kMaxStates = 1 << 11, kMaxForLong = 1 << 7;
constexpr int32_t kLongCover = 16;

bool overlap(const support::ByteSet& bytes, const CharacterSet& set) {
  return (bytes.words[0] & set.ascii[0]) | (bytes.words[1] & set.ascii[1]) | (bytes.words[2] & set.ascii[2]) |
         (bytes.words[3] & set.ascii[3]);
}

// Loops on at least `kManyLooping` ASCII bytes are widened by bytes that lead to other states, of which there may be
// `kMaxOthers`.
constexpr int32_t kManyLooping = 32;
constexpr size_t kMaxOthers = 32;
constexpr support::ByteSet kAscii{{~0u, ~0u, ~0u, ~0u}};

int32_t count(const support::ByteSet& bytes) {
  int32_t found = 0;
  for (const uint32_t word : bytes.words) found += std::popcount(word);
  return found;
}

// The two bytes with which line separators begin.
constexpr uint8_t kSeparatorLead = 0xE2, kSeparatorNext = 0x80;

// The bytes that begin characters of different kinds.
constexpr uint8_t kLeadsOfKinds[] = {0xC2, 0xE1, 0xE2, 0xE3, 0xEF};

bool has_kinds_after(int lead) { return std::ranges::find(kLeadsOfKinds, lead) != std::end(kLeadsOfKinds); }

}  // namespace

CharacterBytes::CharacterBytes(const ByteClasses& byte_class) {
  int32_t seen = -1, seen_pending = -1;
  for (int lead = kFirstLead; lead < kLeadEnd; ++lead) {
    if (byte_class[lead] == seen && kAfterLead[lead] == seen_pending) continue;
    seen = has_kinds_after(lead) ? -1 : byte_class[lead], seen_pending = kAfterLead[lead];
    leads[num_leads++] = static_cast<uint8_t>(lead);
  }
  for (int pending = 0; pending < support::kNumPending; ++pending) {
    Continuations& own = continuations[pending];
    for (int byte = kNextLow[pending]; byte <= kNextHigh[pending]; ++byte) {
      if (own.count > 0 && byte_class[byte] == byte_class[own.bytes[own.count - 1]]) continue;
      own.bytes[own.count++] = static_cast<uint8_t>(byte);
    }
  }
}

Characters::Note& Characters::note(int32_t state) {
  if (note_of_.size() < static_cast<size_t>(machine_.num_states())) note_of_.resize(machine_.num_states(), kNoNote);
  if (note_of_[state] == kNoNote) {
    notes_.emplace_back();
    note_of_[state] = static_cast<int32_t>(notes_.size()) - 1;
  }
  return notes_[note_of_[state]];
}

bool Characters::rest_leads_to(int32_t state, Pending pending, int32_t target) {
  if (!is_new(state, pending)) return true;
  budget_.spend(16);
  return std::ranges::all_of(bytes_.after(pending), [&](uint8_t byte) {
    const int32_t reached = machine_.row(state)[machine_.byte_class()[byte]];
    const Pending rest = kAfterContinuation[pending];
    return rest == kWhole ? reached == target : reached >= 0 && rest_leads_to(reached, rest, target);
  });
}

uint32_t Characters::kinds_that_lead_to(int32_t state, int32_t target) {
  const auto reached_over = [&](int byte) { return machine_.row(state)[machine_.byte_class()[byte]]; };
  const auto all_lead_there = [&](auto is_left_out) {
    begin_search();
    return std::ranges::all_of(bytes_.all_leads(), [&](uint8_t lead) {
      return reached_over(lead) >= 0 &&
             (is_left_out(lead) || rest_leads_to(reached_over(lead), kAfterLead[lead], target));
    });
  };
  if (all_lead_there([](int) { return false; })) return support::kAllKinds;
  if (!all_lead_there(has_kinds_after)) return 0;
  uint32_t kinds = support::kAllKinds;
  for (const uint8_t lead : kLeadsOfKinds) {
    kinds &= kinds_that_lead_on(reached_over(lead), lead, target);
    if (!(kinds & support::kOther)) return 0;
  }
  return kinds;
}

uint32_t Characters::kinds_that_lead_on(int32_t state, uint8_t lead, int32_t target) {
  const ByteClasses& byte_class = machine_.byte_class();
  uint32_t missing = 0;
  const auto look = [&](int32_t from, auto kind_after) {
    for (int byte = kNextLow[support::kOne]; byte <= kNextHigh[support::kOne]; ++byte) {
      if (machine_.row(from)[byte_class[byte]] != target) missing |= kind_after(static_cast<uint8_t>(byte));
    }
  };
  budget_.spend(64);
  if (kAfterLead[lead] == support::kOne) {
    look(state, [&](uint8_t next) { return support::kind_of(lead, next, 0); });
    return support::kAllKinds & ~missing;
  }
  for (int next = kNextLow[kAfterLead[lead]]; next <= kNextHigh[kAfterLead[lead]]; ++next) {
    const int32_t reached = machine_.row(state)[byte_class[next]];
    if (reached < 0) return 0;
    if (support::has_kinds(lead, static_cast<uint8_t>(next))) {
      budget_.spend(64);
      look(reached, [&](uint8_t third) { return support::kind_of(lead, static_cast<uint8_t>(next), third); });
    } else if (!rest_leads_to(reached, support::kOne, target)) {
      return 0;
    }
  }
  return support::kAllKinds & ~missing;
}

Loops Characters::find_loops(int32_t state) {
  Loops found{};
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (machine_.row(state)[column] != state) continue;
    for (int word = 0; word < 4; ++word) found.ascii[word] |= machine_.bytes(column).all.words[word];
  }
  found.characters = kinds_that_lead_to(state, state);
  return found;
}

support::ByteSet Characters::leading_out(int32_t state, std::span<const int32_t> states) {
  const auto row = machine_.row(state);
  support::ByteSet found;
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (std::ranges::find(states, row[column]) == states.end()) found |= machine_.bytes(column).all;
  }
  return found & kAscii;
}

Loops Characters::widened(int32_t state, Loops loops) {
  support::ByteSet read = {{loops.ascii[0], loops.ascii[1], loops.ascii[2], loops.ascii[3]}};
  const int32_t num_looping = count(read);
  if (num_looping < kManyLooping || (kDot.ascii_bytes() & ~read).is_empty()) return loops;
  Vector<int32_t> inside(1, state, budget_);
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    const int32_t target = machine_.row(state)[column];
    if (target < 0 || !overlap(machine_.bytes(column).all, kDot)) continue;
    if (std::ranges::find(inside, target) == inside.end()) inside.push_back(target);
    if (inside.size() > kMaxOthers) return loops;
    read |= machine_.bytes(column).all & kAscii;
  }
  // Leave out a state from which most of these bytes lead outside; if there is none, leave out the bytes that lead
  // outside.
  while (inside.size() > 1) {
    budget_.spend(static_cast<int64_t>(inside.size()) * machine_.num_classes());
    support::ByteSet failing;
    int32_t most = 0;
    size_t worst = 0;
    for (size_t at = 1; at < inside.size(); ++at) {
      const support::ByteSet own = leading_out(inside[at], inside) & read;
      failing |= own;
      if (count(own) > most) most = count(own), worst = at;
    }
    if (most == 0) break;
    if (2 * most > count(read)) {
      inside.erase(inside.begin() + static_cast<ptrdiff_t>(worst));
      read = read & ~leading_out(state, inside);
    } else {
      read = read & ~failing;
    }
  }
  const auto loses = [&](int32_t other) {
    return loops.characters & ~(kinds_that_lead_to(other, state) | kinds_that_lead_to(other, other));
  };
  if (count(read) <= num_looping || std::ranges::any_of(std::span(inside).subspan(1), loses)) return loops;
  for (int word = 0; word < 4; ++word) loops.ascii[word] = read.words[word];
  return loops;
}

const StateLoops& Characters::loops(int32_t state) {
  if (!note(state).has_loops) {
    const int32_t twin = machine_.twin(state);
    if (twin != state) loops(twin);
    const Loops looping = twin == state ? find_loops(state) : note(twin).loops.returning;
    // Twins share the loops of their fragment; the other states may lie outside of it, so widen each by itself.
    const Loops found = widened(state, looping);
    Note& own = note(state);
    own.loops = {found, looping}, own.has_loops = true;
  }
  return note(state).loops;
}

bool Characters::alike_beyond_ascii(int32_t one, int32_t other) {
  return std::ranges::all_of(bytes_.all_leads(), [&](uint8_t lead) {
    const int32_t column = machine_.byte_class()[lead];
    return machine_.row(one)[column] == machine_.row(other)[column];
  });
}

// Return a class of bytes that leads to the state that most ASCII bytes lead to. If no class is large, as where a long
// list of words makes a class of nearly every byte, the bytes are counted by target.
int32_t Characters::leading_class(int32_t state) {
  const auto row = machine_.row(state);
  const auto leading = [&](int32_t column) { return row[column] < 0 ? -1 : machine_.bytes(column).num_ascii; };
  int32_t most = -1, found = 0;
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (leading(column) > most) most = leading(column), found = column;
  }
  if (most >= kTextBytes) return found;
  if (num_leading_.size() < static_cast<size_t>(machine_.num_states())) num_leading_.resize(machine_.num_states(), 0);
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (row[column] < 0) continue;
    const int32_t count = num_leading_[row[column]] += leading(column);
    if (count > most) most = count, found = column;
  }
  for (const int32_t target : row) {
    if (target >= 0) num_leading_[target] = 0;
  }
  return found;
}

TextLike Characters::find_text(int32_t state) {
  const auto row = machine_.row(state);
  // In most states very few bytes lead anywhere, which settles it.
  if (machine_.num_ascii(row) < kTextBytes) return {};
  const int32_t widest = leading_class(state);
  TextLike found;
  found.target = row[widest];
  int32_t count = 0;
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (row[column] != found.target) continue;
    count += machine_.bytes(column).num_ascii;
    for (int word = 0; word < 4; ++word) found.set.ascii[word] |= machine_.bytes(column).all.words[word];
  }
  if (found.target < 0 || count < kTextBytes) return {};
  found.set.beyond = kinds_that_lead_to(state, found.target);
  found.target_loops = machine_.row(found.target)[widest] == found.target;
  return found;
}

const TextLike& Characters::text(int32_t state) {
  if (!note(state).has_text) {
    const int32_t twin = machine_.twin(state);
    TextLike found = twin == state ? TextLike{} : text(twin);
    if (twin != state && found.target == twin) {
      found.target = state;
    } else {
      found = find_text(state);
    }
    Note& own = note(state);
    own.text = found, own.has_text = true;
  }
  return note(state).text;
}

LoopingText Characters::looping_text(int32_t state) {
  CharacterSet set = text(state).set;
  Vector<int32_t> inside(1, state, budget_);
  if (!(kDot.ascii_bytes() & ~set.ascii_bytes()).is_empty()) {
    const Loops& own = loops(state).all;
    std::ranges::copy(own.ascii, set.ascii);
    set.beyond = own.characters;
    for (size_t at = 0; at < inside.size(); ++at) {
      for (int32_t column = 0; column < machine_.num_classes(); ++column) {
        if (!overlap(machine_.bytes(column).all, set)) continue;
        const int32_t target = machine_.row(inside[at])[column];
        if (std::ranges::find(inside, target) == inside.end()) inside.push_back(target);
      }
    }
  }
  LoopingText found{set, leaving(state, set), {}};
  for (const int32_t other : std::span(inside).subspan(1)) {
    found.leaving |= leaving(other, set);
    for (int32_t column = 0; column < machine_.num_classes(); ++column) {
      if (machine_.row(other)[column] != machine_.row(state)[column]) found.differing |= machine_.bytes(column).all;
    }
  }
  return found;
}

int32_t Characters::loop_after(int32_t state) {
  const TextLike own = text(state);
  if (own.target == kDead || own.target == state) return kDead;
  if (own.target_loops) return own.target;
  const TextLike& next = text(own.target);
  return next.target_loops && !(own.set == kQuoted) && next.set.holds(own.set) ? next.target : kDead;
}

int32_t Characters::text_loop(int32_t state, const CharacterSet& set) {
  const TextLike own = text(state);
  if (own.target == kDead || !own.target_loops) return kDead;
  const TextLike& looping = text(own.target);
  return looping.target == own.target && looping.set.holds(set) ? own.target : kDead;
}

bool Characters::is_free(int32_t state) {
  if (free_.size() < static_cast<size_t>(machine_.num_states())) free_.resize(machine_.num_states(), Free::kUnknown);
  if (free_[state] == Free::kUnknown) free_[state] = machine_.is_free(state) ? Free::kYes : Free::kNo;
  return free_[state] == Free::kYes;
}

support::ByteSet Characters::leaving(int32_t state, const CharacterSet& set) {
  const auto row = machine_.row(state);
  support::ByteSet found;
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (row[column] != kDead) found |= machine_.bytes(column).all;
  }
  for (int word = 0; word < 4; ++word) found.words[word] &= ~set.ascii[word];
  return found;
}

support::ByteSet Characters::lost(int32_t state, int32_t other) {
  support::ByteSet found;
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (machine_.row(state)[column] == kDead && machine_.row(other)[column] != kDead) {
      found |= machine_.bytes(column).all;
    }
  }
  return found;
}

bool Characters::refuses(int32_t state, const CharacterSet& set) {
  const auto row = machine_.row(state);
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (row[column] != kDead && overlap(machine_.bytes(column).all, set)) return false;
  }
  return !set.beyond || std::ranges::all_of(bytes_.all_leads(),
                                            [&](uint8_t lead) { return row[machine_.byte_class()[lead]] == kDead; });
}

void Characters::begin_search() {
  search_ += kSearchStep;
  if (search_ > INT32_MAX - 2 * kSearchStep) {
    std::ranges::fill(met_, 0);
    search_ = kSearchStep;
  }
}

bool Characters::is_new(int32_t state, Pending pending) {
  if (met_.size() < static_cast<size_t>(machine_.num_states())) met_.resize(machine_.num_states(), 0);
  const int32_t mark = search_ + (pending == kWhole ? 0 : 1 + pending);
  if (met_[state] == mark) return false;
  met_[state] = mark;
  return true;
}

bool Characters::add(int32_t state) {
  if (state < 0) return false;
  if (is_new(state, kWhole)) queue_.push_back(state);
  return true;
}

bool Characters::add_rest(int32_t state, Pending pending) {
  if (state < 0) return false;
  budget_.spend(16);
  return !is_new(state, pending) || std::ranges::all_of(bytes_.after(pending), [&](uint8_t byte) {
    const int32_t reached = machine_.row(state)[machine_.byte_class()[byte]];
    const Pending rest = kAfterContinuation[pending];
    return rest == kWhole ? add(reached) : add_rest(reached, rest);
  });
}

bool Characters::add_rest_but_separators(int32_t state) {
  if (state < 0) return false;
  const ByteClasses& byte_class = machine_.byte_class();
  budget_.spend(64);
  return std::ranges::all_of(bytes_.after(kAfterLead[kSeparatorLead]), [&](uint8_t byte) {
    const int32_t reached = machine_.row(state)[byte_class[byte]];
    // A class may have more bytes than the one with which separators continue.
    if (byte != kSeparatorNext || byte_class[byte] == byte_class[byte + 1]) return add_rest(reached, support::kOne);
    int32_t seen = -1;
    for (int next = kNextLow[support::kOne]; next <= kNextHigh[support::kOne]; ++next) {
      if (support::kind_of(kSeparatorLead, byte, static_cast<uint8_t>(next)) == support::kSeparator) continue;
      if (byte_class[next] == seen) continue;
      seen = byte_class[next];
      if (reached < 0 || !add(machine_.row(reached)[seen])) return false;
    }
    return true;
  });
}

bool Characters::add_targets(int32_t state) {
  for (int32_t column = 0; column < machine_.num_classes(); ++column) {
    if (overlap(machine_.bytes(column).all, kDot) && !add(machine_.row(state)[column])) return false;
  }
  return std::ranges::all_of(bytes_.all_leads(), [&](uint8_t lead) {
    const int32_t reached = machine_.row(state)[machine_.byte_class()[lead]];
    return lead == kSeparatorLead ? add_rest_but_separators(reached) : add_rest(reached, kAfterLead[lead]);
  });
}

Characters::CharacterTargets Characters::find_targets(int32_t state) {
  if (targets_of_.size() < static_cast<size_t>(machine_.num_states()))
    targets_of_.resize(machine_.num_states(), kNoNote);
  if (targets_of_[state] != kNoNote) return character_targets_[targets_of_[state]];
  begin_search();
  queue_.clear();
  CharacterTargets found;
  found.is_free = add_targets(state);
  found.leaving = leaving(state, kDot);
  if (found.is_free) {
    found.begin = static_cast<int32_t>(reached_.size());
    reached_.insert(reached_.end(), queue_.begin(), queue_.end());
    found.end = static_cast<int32_t>(reached_.size());
  }
  character_targets_.push_back(found);
  targets_of_[state] = static_cast<int32_t>(character_targets_.size()) - 1;
  return found;
}

Cover Characters::cover(int32_t state) {
  if (++cover_search_ == INT32_MAX) {
    std::ranges::fill(covered_, 0);
    cover_search_ = 1;
  }
  const auto meet = [&](int32_t reached) {
    if (covered_.size() < static_cast<size_t>(machine_.num_states())) covered_.resize(machine_.num_states(), 0);
    if (std::exchange(covered_[reached], cover_search_) != cover_search_) frontier_.push_back(reached);
  };
  frontier_.clear();
  meet(state);
  Cover found;
  for (size_t first = 0; found.length < kMaxCover; ++found.length) {
    const size_t last = frontier_.size();
    budget_.spend(static_cast<int64_t>(last - first));
    for (; first < last; ++first) {
      const CharacterTargets own = find_targets(frontier_[first]);
      found.leaving |= own.leaving;
      if (!own.is_free || frontier_.size() > (found.length < kLongCover ? kMaxStates : kMaxForLong)) return found;
      for (int32_t at = own.begin; at < own.end; ++at) meet(reached_[at]);
    }
    if (frontier_.size() == last) found.length = kMaxCover - 1;
  }
  return found;
}

}  // namespace tokenfst
