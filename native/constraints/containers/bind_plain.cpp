// Bindings of plain arrays and objects, and of the rules that read them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "constraints/bindings.h"
#include "constraints/containers/plain_states.h"
#include "constraints/containers/rule_writer.h"

namespace constraints {

namespace {

using namespace bindings;
using namespace nanobind::literals;

using Numbers = std::vector<int32_t>;

std::vector<bool> flags_of(const Numbers& numbers, int32_t count) {
  std::vector<bool> found(count);
  for (int32_t number : numbers) {
    require_within(number, 0, count, "name");
    found[number] = true;
  }
  return found;
}

ObjectMembers members_of(int32_t num_listed, int32_t num_members, const Numbers& possible, const Numbers& required) {
  require(0 <= num_listed && num_listed <= num_members, "there are as many members as listed names, or more");
  return {num_listed, num_members, flags_of(possible, num_listed), flags_of(required, num_listed)};
}

PlainStates in_order_of(int32_t num_listed, int32_t num_members, const Numbers& possible, const Numbers& required) {
  return in_order(members_of(num_listed, num_members, possible, required));
}

PlainStates items_of(const std::vector<bool>& possible, int64_t low, std::optional<int64_t> high, int32_t last) {
  require(!possible.empty() && last >= 0, "there is a place and a state");
  return items_in_order(possible, low, high, last);
}

int32_t checked(const PlainStates& states, int32_t state) {
  require_within(state, 0, states.num_states(), "state");
  return state;
}

nb::list following(const PlainStates& states, int32_t state) {
  nb::list found;
  for (const Move& move : states.moves(checked(states, state))) found.append(nb::make_tuple(move.member, move.target));
  return found;
}

Numbers skips(const PlainStates& states, int32_t state) {
  const auto found = states.skips(checked(states, state));
  return {found.begin(), found.end()};
}

// `member` returns what an item or member consists of: the parts of its name, the languages of its value, and pairs of
// an opening bracket and the rule that is called after it.
class PlainWriter : public RuleWriter<PlainStates> {
 public:
  PlainWriter(const PlainStates& states, nb::callable member, nb::handle call, Marks marks)
      : RuleWriter(states, call, std::move(marks)),
        member_(std::move(member)) {}

 private:
  struct Member {
    nb::tuple names;
    const ReadValue* value;
  };

  void add_moves(int32_t state, int32_t source) override {
    for (const Move& move : states_.moves(state)) {
      targets_ = {after(move.target)};
      const Member read = member(move.member);
      add_member(source, read.names, *read.value);
    }
  }

  const Member& member(int32_t number) {
    if (members_.size() <= static_cast<size_t>(number)) members_.resize(number + 1);
    if (!members_[number]) {
      const nb::tuple found = nb::cast<nb::tuple>(member_(number));
      members_[number] =
          Member{nb::cast<nb::tuple>(found[0]), &value(nb::cast<nb::list>(found[1]), nb::cast<nb::list>(found[2]))};
    }
    return *members_[number];
  }

  // Return the value that two lists describe. `member` returns the same list objects for values that are read alike.
  const ReadValue& value(const nb::list& languages, const nb::list& calls) {
    const auto [found, is_new] = values_.try_emplace({languages.ptr(), calls.ptr()});
    if (is_new) {
      ReadValue& made = found->second;
      made.number = static_cast<int32_t>(values_.size());
      for (nb::handle language : languages) made.languages.push_back({nb::borrow(language), 0});
      for (nb::handle call : calls) made.calls.push_back({call[0], call[1], {0}});
      kept_.append(nb::make_tuple(languages, calls));
    }
    return found->second;
  }

  const nb::callable member_;
  std::vector<std::optional<Member>> members_;
  std::map<std::pair<PyObject*, PyObject*>, ReadValue> values_;
  // Keeps the lists alive, since `values_` identifies them by their addresses.
  nb::list kept_;
};

nb::tuple plain_rule(const PlainStates& states, nb::callable member, nb::handle call, nb::object opened,
                     nb::object empty, nb::object comma, nb::object close) {
  PlainWriter writer(states, std::move(member), call,
                     {std::move(opened), std::move(empty), std::move(comma), std::move(close)});
  const nb::tuple rule = writer.write();
  return nb::make_tuple(writer.num_used(), rule[0], rule[1], rule[2], rule[3], rule[4]);
}

}  // namespace

void bind_plain(nb::module_& m) {
  nb::class_<PlainStates>(m, "PlainStates",
                          "The states of an array or object whose items or members are the same in all states.")
      .def_prop_ro("num_states", &PlainStates::num_states)
      .def("following", &following, nb::sig("def following(self, state: int, /) -> list[tuple[int, int]]"),
           "Return the numbers of the items or members that may come next, and the state after each.")
      .def("skips", &skips, nb::sig("def skips(self, state: int, /) -> list[int]"),
           "Return the other states whose moves may be made in a state.")
      .def(
          "is_end", [](const PlainStates& states, int32_t state) { return states.is_end(checked(states, state)); },
          nb::sig("def is_end(self, state: int, /) -> bool"), "Return whether the array or object may end in a state.");
  m.def("in_order", &in_order_of, "num_listed"_a, "num_members"_a, "possible"_a, "required"_a,
        "Return the states of an object whose names come in the order in which they are listed.");
  m.def("items_in_order", &items_of, "possible"_a, "low"_a, "high"_a.none(), "last"_a,
        "Return the states of an array. `possible` says for each place whether there can be an item.");
  m.def("plain_rule", &plain_rule, "states"_a, "member"_a, "call"_a, "opened"_a.none(), "empty"_a, "comma"_a, "close"_a,
        nb::sig("def plain_rule(states: PlainStates, member: collections.abc.Callable[[int], tuple[tuple[typing.Any, "
                "...], list[typing.Any], list[tuple[typing.Any, int]]]], call: type, opened: typing.Any, empty: "
                "typing.Any, comma: typing.Any, close: typing.Any) -> tuple[int, int, list[tuple[int, typing.Any, "
                "int]], list[tuple[int, int]], list[typing.Any], list[tuple[int, int]]]"),
        "Return the rule that reads a plain array or object: how many of its states stand for a state of the "
        "container, the number of all its states, the arcs, the epsilon arcs, the calls and the ends.");
}

}  // namespace constraints
