#include "tokenfst/unique_items/separating_tokens.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tokenfst::unique_items {

namespace {

bool is_plain(uint8_t byte) { return 0x20 <= byte && byte < 0x7F && byte != '"' && byte != '\\'; }

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Return where a run of some characters from `at` on ends.
size_t run_end(std::string_view text, size_t at, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, at), text.size());
}

// Return the stem of a token: the part from the end of a string over a comma to the quote that begins the next string,
// if the text before and after it is plain; or to the end of the token, if nothing but brackets and spaces follows the
// comma. Return an empty text if the token is of neither form.
std::string_view stem_of(std::string_view token) {
  const auto is_text = [](std::string_view text) {
    return std::ranges::all_of(text, [](char byte) { return is_plain(static_cast<uint8_t>(byte)); });
  };
  const size_t begin = token.find('"');
  if (begin == std::string_view::npos || !is_text(token.substr(0, begin))) return {};
  const size_t comma = run_end(token, begin + 1, " \t\n\r]}");
  if (comma == token.size() || token[comma] != ',') return {};
  size_t end = run_end(token, comma + 1, " \t\n\r[{");
  if (end == token.size()) return token.substr(begin);
  if (token[end] != '"' || !is_text(token.substr(end + 1))) return {};
  return token.substr(begin, end + 1 - begin);
}

}  // namespace

bool is_plain(std::span<const uint8_t> text) {
  return std::ranges::all_of(text, [](uint8_t byte) { return is_plain(byte); });
}

SeparatingTokens::SeparatingTokens(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (int32_t rank = 0; rank < vocabulary_->num_ranks(); ++rank) classify(rank);
  group_by_stem();
}

// Add a token to the lists that it belongs to, by what comes before its last comma.
void SeparatingTokens::classify(int32_t rank) {
  const std::string_view token = text_of(text(rank));
  const size_t comma = token.rfind(',');
  if (comma == std::string_view::npos) return;
  separating_.push_back(rank);
  if (token.find('"') < comma) closing_.push_back(rank);
  if (token.find('[') < comma) opening_.push_back(rank);
}

void SeparatingTokens::group_by_stem() {
  std::map<std::string_view, std::vector<int32_t>> by_stem;
  for (const int32_t rank : closing_) by_stem[stem_of(text_of(text(rank)))].push_back(rank);
  for (auto& [stem, ranks] : by_stem) {
    if (stem.empty()) {
      without_stem_ = std::move(ranks);
    } else {
      stems_.push_back({std::string(stem), std::move(ranks)});
    }
  }
}

}  // namespace tokenfst::unique_items
