#include "tokenfst/unique_items/token_reader.h"

#include <algorithm>

#include "support/bits.h"

namespace tokenfst::unique_items {

namespace {

// Return the part of some ascending ranks that lies below a node.
std::span<const int32_t> below(std::span<const int32_t> ranks, const TrieNode& node) {
  return {std::ranges::lower_bound(ranks, node.first_rank), std::ranges::lower_bound(ranks, node.end_rank)};
}

size_t common_prefix(std::span<const uint8_t> left, std::span<const uint8_t> right) {
  return static_cast<size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
}

}  // namespace

void TokenReader::clear(const Position& position, std::span<uint32_t> words) {
  const VisitDoubtful visit = [&](int32_t token, const Position* reached) {
    if (!reached || !reader_->can_continue(*reached)) support::clear_bit(words, token);
  };
  const bool is_in_text = position.memory.scalar().is_in_text();
  visit_all({words, visit, position.num_repeats, is_in_text ? position.marked : LazyAutomaton::kNotAllowed}, position);
}

void TokenReader::visit_doubtful(const Position& position, std::span<const uint32_t> words,
                                 const VisitDoubtful& visit) {
  visit_all({words, visit, position.num_repeats}, position);
}

void TokenReader::visit_all(const Walk& walk, const Position& position) {
  for (const Trie* trie : {&tokens_->vocabulary().whole(), &tokens_->vocabulary().partial()}) {
    visit_below(walk, position, *trie, trie->root(), 0);
  }
}

// Visit the tokens below a node, whose `depth` bytes have led to a position.
void TokenReader::visit_below(const Walk& walk, const Position& position, const Trie& trie, const TrieNode& node,
                              size_t depth) {
  if (!walk.is_about(position)) return visit_separating(walk, position, node, depth, {});
  if (depth) visit_run(walk, node.first_rank, trie.own_end(node), &position);
  if (!node.children) return;
  const bool repeats = position.num_repeats > walk.num_repeats;
  const bool is_in_text = position.memory.scalar().is_in_text() && !repeats;
  const support::ByteSet bytes =
      is_in_text ? position.memory.bytes_for_rivals() : reader_->marked().bytes_after(position.marked);
  if (is_in_text) visit_separating(walk, position, node, depth, bytes);
  for (int32_t child = node.children; child < node.children + node.num_children; ++child) {
    const uint8_t byte = trie.bytes()[child];
    // After an item that repeats an earlier one, the rules allow more than the readings that are left do.
    if (!bytes[byte] && !repeats) continue;
    Position reached = position;
    if (reader_->read(reached, {&byte, 1})) {
      visit_below(walk, reached, trie, trie[child], depth + 1);
    } else {
      visit_run(walk, trie[child].first_rank, trie[child].end_rank, nullptr);
    }
  }
}

// Visit the tokens with these ranks, which all lead to a position.
void TokenReader::visit_run(const Walk& walk, int32_t first_rank, int32_t end_rank, const Position* reached) {
  for (int32_t rank = first_rank; rank < end_rank; ++rank) {
    const int32_t token = tokens_->id(rank);
    if (support::has_bit(walk.words, token)) walk.visit(token, reached);
  }
}

// Visit the tokens below a node that continue to another item, without those whose next byte is in `read_apart`. With
// any other next byte, nothing has rivals.
void TokenReader::visit_separating(const Walk& walk, const Position& position, const TrieNode& node, size_t depth,
                                   const support::ByteSet& read_apart) {
  auto kind = position.memory.is_open() ? tokens_->separating() : tokens_->opening();
  if (position.memory.scalar().is_string()) kind = closing(walk, node, depth);
  std::vector<int32_t> ranks;
  for (const int32_t rank : below(kind, node)) {
    if (!support::has_bit(walk.words, tokens_->id(rank))) continue;
    const auto text = tokens_->text(rank);
    if (text.size() > depth && !read_apart[text[depth]]) ranks.push_back(rank);
  }
  read_sorted(walk, position, ranks, depth);
}

// Return the tokens that end a string and have to be read below a node, and perhaps others.
std::span<const int32_t> TokenReader::closing(const Walk& walk, const TrieNode& node, size_t depth) {
  if (walk.start == LazyAutomaton::kNotAllowed) return tokens_->closing();
  const bool is_at_start =
      !depth || (is_plain(tokens_->text(node.first_rank).first(depth)) && endless_.loops(walk.start));
  return is_at_start ? endless_.left(walk.start, walk.words) : tokens_->closing();
}

// Read tokens in order, common beginnings once, and visit those that the walk looks for and those that are refused.
void TokenReader::read_sorted(const Walk& walk, const Position& position, std::span<const int32_t> ranks,
                              size_t depth) {
  std::vector<Position> path;  // after each byte of the previous token
  std::span<const uint8_t> before;
  bool is_refused = false;  // whether the byte after the path was refused
  for (const int32_t rank : ranks) {
    const auto rest = tokens_->text(rank).subspan(depth);
    const size_t common = common_prefix(before, rest);
    if (common <= path.size()) {
      path.resize(common, position);
      is_refused = false;
      for (size_t at = common; at < rest.size() && !is_refused; ++at) {
        Position reached = path.empty() ? position : path.back();
        is_refused = !reader_->read(reached, rest.subspan(at, 1));
        if (!is_refused) path.push_back(std::move(reached));
      }
    }
    before = rest;
    if (is_refused || walk.is_about(path.back())) {
      walk.visit(tokens_->id(rank), is_refused ? nullptr : &path.back());
    }
  }
}

}  // namespace tokenfst::unique_items
