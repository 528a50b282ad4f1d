#include "tokenfst/lazy/mask_finder.h"

#include <algorithm>
#include <utility>

#include "tokenfst/lazy/chains.h"

namespace tokenfst {

namespace {

// A mask with more flips than this gets words of its own.
constexpr size_t kMaxFlips = 1 << 12;
// If fewer tokens than this begin with bytes that only one of two states reads, they are found by a walk; otherwise
// they are cleared at once.
constexpr int32_t kManyLost = 1 << 10;
// Covers of a loop are used from this length on.
constexpr int32_t kLongCover = 16;
// Tokens that begin with excluded bytes are walked over only if they are fewer than one in this many.
constexpr int64_t kShareExcluded = 2;

// Return a pointer to words that are kept elsewhere and outlive every mask.
std::shared_ptr<const Words> shared(const Words& words) { return {std::shared_ptr<const void>(), &words}; }

}  // namespace

MaskPointer MaskFinder::find(const NumberedConfiguration& at,
                             const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of) {
  const TextLike text = context_.characters.text(at.state);
  if (!(text.set == kQuoted)) {
    if (MaskPointer mask = near_bounds(at, mask_of)) return mask;
  }
  if (text.target != kDead) {
    if (MaskPointer mask = text_mask(text, at, mask_of)) return mask;
  }
  return walked(at);
}

bool MaskFinder::begin(const NumberedConfiguration& at) {
  context_.stacks.drop_from(context_.stacks.num_kept());
  tokens_.clear();
  looked_.lowest = context_.stacks[at.top].height + 1;
  is_final_ = context_.machine.may_end(place(at), context_.stacks, looked_);
  return is_final_;
}

WalkedTokens MaskFinder::walked_tokens(bool whole) const {
  return {whole ? vocabulary_.whole() : vocabulary_.partial(), vocabulary_.token_of_rank(), whole};
}

void MaskFinder::walk(const TokenTrie& tokens, const NumberedConfiguration& at) {
  AllowedWalk walker(context_, {tokens.trie, tokens.token_of_rank, false}, {}, nullptr, looked_, tokens_);
  walk_places(tokens.trie, place(at), walker, budget_);
}

void MaskFinder::walk_all(const CharacterSet& skipped, const NumberedConfiguration& at) {
  for (const bool whole : {true, false}) {
    const WalkedTokens tokens = walked_tokens(whole);
    AllowedWalk walker(context_, tokens, skipped, whole ? &texts_.quoted() : nullptr, looked_, tokens_);
    walk_places(tokens.trie, place(at), walker, budget_);
  }
}

MaskPointer MaskFinder::walked(const NumberedConfiguration& at) {
  ++counts_.walked;
  begin(at);
  walk_all({}, at);
  return mask(nullptr, at);
}

// Return the mask that has been collected, relative to `base`. At least `depth` symbols of the stack were looked at.
MaskPointer MaskFinder::mask(std::shared_ptr<const Words> base, const NumberedConfiguration& at, int32_t depth) {
  const auto ends = vocabulary_.eos_ids();
  if (tokens_.size() > kMaxFlips) {
    Words words = base ? *base : Words(vocabulary_.num_words());
    for (int32_t token : tokens_) support::flip_bit(words, token);
    base = std::make_shared<const Words>(std::move(words));
    tokens_.clear();
  }
  depth = std::max(depth, context_.stacks[at.top].height + 1 - looked_.lowest);
  const bool owns_base = base.use_count() == 1;
  auto made =
      std::make_shared<CachedMask>(CachedMask{std::move(base), Vector<int32_t>(budget_), is_final_, depth, owns_base});
  made->flips.reserve(tokens_.size() + (is_final_ ? ends.size() : 0));
  if (is_final_) made->flips.assign(ends.begin(), ends.end());
  made->flips.insert(made->flips.end(), tokens_.begin(), tokens_.end());
  return made;
}

// Return the mask of a text-like state, null if it takes a walk over all tokens.
MaskPointer MaskFinder::text_mask(const TextLike& text, const NumberedConfiguration& at,
                                  const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of) {
  const int32_t loop = context_.characters.loop_after(at.state);
  const bool leads_to_quoted = loop != kDead && context_.characters.text(loop).set == kQuoted;
  const bool loops = text.target == at.state, is_prepared = text.set == kQuoted || text.set == kDot;
  const bool may_be_covered = !leads_to_quoted && !is_prepared;
  if (may_be_covered) {
    // A short cover is not used for a loop: usually fewer tokens leave the loop than are longer than the cover.
    if (MaskPointer mask = covered(at, loops ? kLongCover : 0)) return mask;
  }
  if (loop != kDead) return differing(at, loop, mask_of({loop, at.top}));
  const Text* const known = loops ? nullptr : texts_.find(text.set);
  MaskPointer found = loops ? looping(at) : known ? chained(*known, at) : nullptr;
  if (!found && (loops || is_prepared)) found = covered(at, 0);
  return found || loops ? found : with_excluded_bytes(text, at);
}

// Return the mask of a state relative to that of another state. If the other one allows many tokens whose first byte
// leads nowhere here, as where text must not begin with a space, these are cleared at once.
MaskPointer MaskFinder::differing(const NumberedConfiguration& at, int32_t other, const MaskPointer& known) {
  ++counts_.differing;
  begin(at);
  support::ByteSet lost = context_.characters.lost(at.state, other);
  if (!lost.is_empty() && texts_.num_beginning(lost) < kManyLost) lost = {};
  // Find the loops of both: where both loop, nothing below differs.
  if (!context_.characters.alike_beyond_ascii(at.state, other)) {
    for (const int32_t state : {at.state, other}) context_.characters.loops(state);
  }
  const DifferingWalk::Places start{place(at), {other, at.top, context_.stacks.num_kept()}};
  for (const bool whole : {true, false}) {
    const WalkedTokens tokens = walked_tokens(whole);
    DifferingWalk walker(context_, tokens, lost, looked_, tokens_);
    walk_places(tokens.trie, start, walker, budget_);
  }
  if (lost.is_empty()) return with_changes(known, at);
  const auto flips = std::span(known->flips).subspan(known->is_final ? vocabulary_.eos_ids().size() : 0);
  Words words = known->base ? *known->base : Words(vocabulary_.num_words());
  for (const int32_t token : flips) support::flip_bit(words, token);
  texts_.clear_beginning(lost, words);
  return mask(std::make_shared<const Words>(std::move(words)), at, known->depth);
}

// Return a known mask with the bits of the collected tokens flipped.
MaskPointer MaskFinder::with_changes(const MaskPointer& known, const NumberedConfiguration& at) {
  const auto flips = std::span(known->flips).subspan(known->is_final ? vocabulary_.eos_ids().size() : 0);
  tokens_.insert(tokens_.begin(), flips.begin(), flips.end());
  return mask(known->base, at, known->depth);
}

// Return the mask of a state that counts, relative to that of the state without those counts whose bounds only long
// tokens reach, which many states share. Null if there is no such count.
MaskPointer MaskFinder::near_bounds(const NumberedConfiguration& at,
                                    const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of) {
  for (size_t number = 0; number < std::size(kNearBounds); ++number) {
    const int32_t far = context_.machine.far_state(at.state, kNearBounds[number]);
    if (far == at.state) continue;
    const MaskPointer known = mask_of({far, at.top});
    ++counts_.differing;
    begin(at);
    const TokenTrie& tokens = texts_.longer(number);
    DifferingWalk walker(context_, {tokens.trie, tokens.token_of_rank, false}, {}, looked_, tokens_);
    const DifferingWalk::Places start{place(at), {far, at.top, context_.stacks.num_kept()}};
    walk_places(tokens.trie, start, walker, budget_);
    return with_changes(known, at);
  }
  return nullptr;
}

// Return the mask of a state that is chained or covered except that some first bytes of a text lead elsewhere than the
// others; these are excluded. Null if the state is not of that kind, or if many tokens begin with these bytes.
MaskPointer MaskFinder::with_excluded_bytes(const TextLike& text, const NumberedConfiguration& at) {
  const support::ByteSet own = text.set.ascii_bytes();
  const auto excluded_in = [&](const CharacterSet& set) -> support::ByteSet {
    const support::ByteSet excluded = set.ascii_bytes() & ~own;
    support::ByteSet differing = own & ~set.ascii_bytes();
    differing |= excluded;
    const bool are_few = kShareExcluded * texts_.num_beginning(differing) < vocabulary_.num_ranks();
    return are_few && !(set.beyond & ~text.set.beyond) ? excluded : support::ByteSet{};
  };
  if (const support::ByteSet excluded = excluded_in(kDot); !excluded.is_empty()) {
    if (MaskPointer mask = covered(at, 0, excluded)) return mask;
  }
  const CharacterSet next = context_.characters.text(text.target).set;
  const support::ByteSet excluded = excluded_in(next);
  const Text* known = excluded.is_empty() ? nullptr : texts_.find(next);
  return known ? chained(*known, at, excluded) : nullptr;
}

// Return the mask of some words of a text and of the tokens collected so far, after a walk over the tokens that begin
// with no character of the text, or with an excluded byte.
MaskPointer MaskFinder::completed(const Words& words, const CharacterSet& set, const support::ByteSet& excluded,
                                  const NumberedConfiguration& at) {
  if (excluded.is_empty()) {
    walk_all(set, at);
    return mask(shared(words), at);
  }
  std::erase_if(tokens_, [&](int32_t token) { return excluded[vocabulary_.token(token)[0]]; });
  CharacterSet skipped = set;
  for (int word = 0; word < 4; ++word) skipped.ascii[word] &= ~excluded.words[word];
  walk_all(skipped, at);
  Words own = words;
  texts_.clear_beginning(excluded, own);
  return mask(std::make_shared<const Words>(std::move(own)), at);
}

// Return the mask of a state that reads any text of kDot up to some length, which must be at least `least`, unless the
// text begins with an excluded byte. Null if the state is not of that kind, or if a walk over all tokens takes no
// longer.
MaskPointer MaskFinder::covered(const NumberedConfiguration& at, int32_t least, const support::ByteSet& excluded) {
  const Text& dot = texts_.dot();
  Cover cover = context_.characters.cover(excluded.is_empty() ? at.state : context_.characters.text(at.state).target);
  cover.length += !excluded.is_empty();
  const auto free = std::ranges::find_if(kCovers, [&](int32_t length) { return length <= cover.length; });
  if (free == std::end(kCovers) || *free < least) return nullptr;
  begin(at);
  const bool found =
      for_each_rest(dot, cover.leaving, [&](const Rests& rests) { walk(rests.tokens_up_to(*free), at); });
  if (!found) return nullptr;
  ++counts_.covered;
  walk(dot.beyond(*free), at);
  return completed(dot.words(*free), kDot, excluded, at);
}

// Return the mask of a text-like state that leads to itself; null if a walk over all tokens takes no longer. Rests are
// walked over from that state, or whole tokens where the effect of a rest depends on the text before it.
MaskPointer MaskFinder::looping(const NumberedConfiguration& at) {
  const LoopingText looping = context_.characters.looping_text(at.state);
  const Text* const text = texts_.find(looping.set);
  if (!text || !text->rests(looping.leaving)) return nullptr;
  begin(at);
  for_each_rest(*text, looping.leaving & ~looping.differing, [&](const Rests& rests) { walk(rests.from(0), at); });
  for_each_rest(*text, looping.leaving & looping.differing,
                [&](const Rests& rests) { walk(rests.tokens_up_to(text->longest()), at); });
  ++counts_.looping;
  walk_all(text->set(), at);
  return mask(shared(text->words(text->longest())), at);
}

// Return the mask of a state from which each character of a text leads to another state, unless the text begins with an
// excluded byte; null if tokens longer than this chain of states may be allowed, or if a walk over all tokens takes no
// longer.
MaskPointer MaskFinder::chained(const Text& text, const NumberedConfiguration& at, const support::ByteSet& excluded) {
  const auto leaving = [&](int32_t state) { return context_.characters.leaving(state, text.set()); };
  if (!text.rests(leaving(at.state))) return nullptr;
  const auto links = chain(context_, text, at.state, !excluded.is_empty(), [&](int32_t state) {
    const int32_t far = context_.machine.far_state(state, vocabulary_.longest());
    return loops_on(context_, text, far) ? far : kDead;
  });
  if (!links) return nullptr;
  begin(at);
  for (int32_t length = 0; const Link& link : *links) {
    const bool found = for_each_rest(text, leaving(link.state), [&](const Rests& rests) {
      if (length > rests.longest()) return;
      walk(link.loops ? rests.from(length) : rests.after(length), {link.state, at.top});
    });
    if (!found) return nullptr;
    ++length;
  }
  ++counts_.chained;
  const int32_t length = links->back().loops ? text.longest() : static_cast<int32_t>(links->size()) - 1;
  return completed(text.words(length), text.set(), excluded, at);
}

// Visit the rests of a text that begin with some bytes; return false, without a visit, if they are too many to save
// anything.
template <class Visit>
bool MaskFinder::for_each_rest(const Text& text, const support::ByteSet& bytes, Visit visit) {
  const Text::RestTable* const rests = text.rests(bytes);
  if (!rests) return false;
  (bytes & rests->some).for_each([&](uint8_t first) { visit(*rests->by_first[first]); });
  return true;
}

}  // namespace tokenfst
