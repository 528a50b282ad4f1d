#include "tokenfst/unique_items/endless.h"

#include <algorithm>
#include <array>
#include <string>

#include "support/bits.h"

namespace tokenfst::unique_items {

namespace {

// The ASCII characters that strings contain unescaped, except DEL.
const std::string kPlain = [] {
  std::string found;
  for (char byte = 0x20; byte < 0x7F; ++byte) {
    if (byte != '"' && byte != '\\') found += byte;
  }
  return found;
}();
// Texts that begin a string in an array, in an object, or in another array; and characters that may begin any text.
constexpr std::array<std::string_view, 6> kOpening{"\"", " \"", "{\"", " {\"", "[\"", " [\""};
constexpr std::array<std::string_view, 3> kTried{"~", "0", "a"};

}  // namespace

int64_t Endless::after(int64_t state, std::span<const uint8_t> text) {
  for (const uint8_t byte : text) {
    bool begins_unique = false;
    if (state != LazyAutomaton::kNotAllowed) state = reader_.state_after(state, byte, begins_unique);
  }
  return state;
}

int64_t Endless::after(int64_t state, std::string_view text) {
  return after(state, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

bool Endless::loops(int64_t state) {
  if (state == LazyAutomaton::kNotAllowed) return false;
  if (const auto known = loops_.find(state); known != loops_.end()) return known->second;
  if (loops_.size() >= kMaxKept) loops_.clear();
  const bool loops =
      std::ranges::all_of(kPlain, [&](const char& byte) { return after(state, std::string_view(&byte, 1)) == state; });
  loops_.emplace(state, loops);
  return loops;
}

// Return whether a state within a string loops, or leads to one that does.
bool Endless::leads(int64_t state) {
  return loops(state) || std::ranges::any_of(kTried, [&](std::string_view text) { return loops(after(state, text)); });
}

// Return whether a string may begin at a state outside of strings and lead to such a loop.
bool Endless::leads_in(int64_t state) {
  return std::ranges::any_of(kOpening, [&](std::string_view text) { return leads(after(state, text)); });
}

std::span<const int32_t> Endless::left(int64_t state, std::span<const uint32_t> words) {
  if (const auto known = left_.find(state); known != left_.end()) return known->second;
  if (left_.size() >= kMaxKept) left_.clear();
  std::vector<int32_t> left(tokens_.without_stem().begin(), tokens_.without_stem().end());
  for (const SeparatingTokens::Stem& stem : tokens_.stems()) add_left(state, stem, words, left);
  std::ranges::sort(left);
  return left_.emplace(state, std::move(left)).first->second;
}

// Add the tokens with a stem that have to be read with the memory.
void Endless::add_left(int64_t state, const SeparatingTokens::Stem& stem, std::span<const uint32_t> words,
                       std::vector<int32_t>& left) {
  std::vector<int32_t> allowed;
  std::ranges::copy_if(stem.ranks, std::back_inserter(allowed),
                       [&](int32_t rank) { return support::has_bit(words, tokens_.id(rank)); });
  if (allowed.empty()) return;
  const bool is_open = stem.text.size() > 1 && stem.text.back() == '"';
  if (loops(state)) {
    // The text before the stem changes nothing, and neither does the text after it if its state loops.
    const int64_t reached = after(state, stem.text);
    if (is_open ? loops(reached) : leads_in(reached)) return;
  }
  for (const int32_t rank : allowed) {
    const int64_t reached = after(state, tokens_.text(rank));
    if (!(is_open ? leads(reached) : leads_in(reached))) left.push_back(rank);
  }
}

}  // namespace tokenfst::unique_items
