// Bindings of vocabularies and tries.
#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bindings.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Return a vocabulary. `tokens` are given by id; `eos_ids` are the ids, ascending, of the tokens that end a sequence,
// all of which are empty.
std::shared_ptr<const Vocabulary> make_vocabulary(const nb::typed<nb::sequence, nb::bytes>& tokens,
                                                  Values<int32_t> eos_ids) {
  std::vector<uint8_t> data;
  std::vector<int64_t> offsets{0};
  for (nb::handle token : tokens) {
    if (!nb::isinstance<nb::bytes>(token)) throw nb::type_error("a token is not bytes");
    const auto bytes = nb::borrow<nb::bytes>(token);
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.c_str());
    data.insert(data.end(), begin, begin + bytes.size());
    offsets.push_back(static_cast<int64_t>(data.size()));
  }
  const auto size = static_cast<int64_t>(offsets.size()) - 1;
  require(size > 0, "a vocabulary needs at least one token");
  require_countable(data.size(), "the vocabulary");
  require_within(eos_ids, 0, size, "id");
  for (size_t at = 0; at < eos_ids.size(); ++at) {
    require(at == 0 || eos_ids[at - 1] < eos_ids[at], "the ids that end a sequence do not ascend");
    require(offsets[eos_ids[at]] == offsets[eos_ids[at] + 1], "a token that ends a sequence writes something");
  }
  std::vector<int32_t> ends(eos_ids.begin(), eos_ids.end());
  return unlocked(
      [&] { return std::make_shared<const Vocabulary>(std::move(data), std::move(offsets), std::move(ends)); });
}

template <class T, class Get>
auto shown(Get get) {
  return [get](nb::handle_t<Vocabulary> self) {
    const std::span<const T> values = get(nb::cast<const Vocabulary&>(self));
    return view(reinterpret_cast<const int32_t*>(values.data()), {values.size()}, self);
  };
}

auto byte_tokens(const Vocabulary& vocabulary) {
  std::vector<int32_t> found;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.token(id).size() == 1) found.push_back(id);
  }
  return array(std::move(found));
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "VocabularyTries", "The tokens of a model as bytes, sorted into tries.")
      .def(nb::new_(&make_vocabulary), "tokens"_a, "eos_ids"_a)
      .def("__len__", &Vocabulary::size)
      .def_prop_ro("num_whole", &Vocabulary::num_whole)
      .def_prop_ro("longest", &Vocabulary::longest)
      .def_prop_ro("token_of_rank", shown<int32_t>([](const Vocabulary& v) { return v.token_of_rank(); }))
      .def_prop_ro("rank_of_token", shown<int32_t>([](const Vocabulary& v) { return v.rank_of_token(); }))
      .def_prop_ro("all_words", shown<uint32_t>([](const Vocabulary& v) { return v.all_words(); }))
      .def_prop_ro("eos_words", shown<uint32_t>([](const Vocabulary& v) { return v.eos_words(); }))
      .def_prop_ro("byte_tokens", &byte_tokens, nb::rv_policy::move,
                   "The ids of the tokens of one byte, `[n]`, ascending.");
}

}  // namespace tokenfst
