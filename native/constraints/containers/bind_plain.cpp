// Bindings of plain arrays and objects, and the rules that read them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "constraints/bindings.h"
#include "constraints/containers/plain_states.h"

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

std::pair<PlainStates, std::pair<int64_t, bool>> any_order_of(int32_t num_listed, int32_t num_members,
                                                              const Numbers& possible, const Numbers& required,
                                                              const Numbers& remembered,
                                                              const std::vector<Numbers>& orders,
                                                              std::optional<int32_t> ahead, int64_t most) {
  const ObjectMembers members = members_of(num_listed, num_members, possible, required);
  const std::vector<bool> is_remembered = flags_of(remembered, num_listed);
  require(remembered.size() <= kMostRemembered, "too many names are remembered");
  for (int32_t name : required) require(is_remembered[name], "a name is required and not remembered");
  for (const Numbers& order : orders) {
    std::vector<bool> is_new = is_remembered;
    for (int32_t name : order) {
      require_within(name, 0, num_listed, "name");
      require(is_new[name], "an order has names that are remembered, each once");
      is_new[name] = false;
    }
  }
  Counted found = in_any_order(members, {remembered, orders, ahead}, most);
  return {std::move(found.states), {found.num_moves, found.is_all}};
}

PlainStates in_order_of(int32_t num_listed, int32_t num_members, const Numbers& possible, const Numbers& required,
                        const std::optional<Numbers>& second) {
  if (second) flags_of(*second, num_listed);
  return in_order(members_of(num_listed, num_members, possible, required), second);
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

// What stands between the items or members, and what ends them: expressions. None is read where `opened` is None.
struct Marks {
  nb::object opened, empty, comma, close;
};

// Writes the arcs of a rule: each state of the container is up to two of the rule, before the next item or member, and
// after one. `member` gives what is read for each item or member: the parts of its name, the languages of its value,
// and pairs of an opening bracket and the rule that is called.
class RuleWriter {
 public:
  RuleWriter(const PlainStates& states, nb::callable member, nb::handle call, Marks marks)
      : states_(states),
        member_(std::move(member)),
        call_(call),
        marks_(std::move(marks)) {
    before_.assign(states.num_states(), -1), after_ = before_;
  }

  // Return the number of states that stand for one of the container, that of all states, and the lists of a rule.
  nb::tuple write() {
    const int32_t start = at(0, false);
    if (marks_.opened.is_none()) {
      epsilon_.append(nb::make_tuple(0, start));
    } else {
      arc(0, marks_.opened, start);
    }
    if (states_.is_end(0)) arc(0, marks_.empty, ended());
    while (!waiting_.empty()) {
      const auto [state, is_after] = waiting_.back();
      waiting_.pop_back();
      if (is_after) {
        add_after(state);
      } else {
        add_before(state);
      }
    }
    return nb::make_tuple(num_used_, num_states_, arcs_, epsilon_, calls_, ends_);
  }

 private:
  struct Member {
    nb::tuple names;
    nb::list languages, calls;
  };

  int32_t at(int32_t state, bool is_after) {
    int32_t& found = (is_after ? after_ : before_)[state];
    if (found < 0) {
      found = num_states_++;
      ++num_used_;
      waiting_.emplace_back(state, is_after);
    }
    return found;
  }

  void arc(int32_t source, nb::handle language, int32_t target) {
    arcs_.append(nb::make_tuple(source, language, target));
  }

  int32_t ended() {
    if (end_ < 0) {
      end_ = num_states_++;
      ends_.append(nb::make_tuple(end_, 0));
    }
    return end_;
  }

  const Member& member(int32_t number) {
    if (members_.size() <= static_cast<size_t>(number)) members_.resize(number + 1);
    if (!members_[number]) {
      const nb::tuple found = nb::cast<nb::tuple>(member_(number));
      members_[number] =
          Member{nb::cast<nb::tuple>(found[0]), nb::cast<nb::list>(found[1]), nb::cast<nb::list>(found[2])};
    }
    return *members_[number];
  }

  void add_before(int32_t state) {
    const int32_t source = before_[state];
    for (const Move& move : states_.moves(state)) {
      const int32_t end = at(move.target, true);
      const Member read = member(move.member);
      if (read.names.size() == 0) {
        add_value(source, read, end);
      } else {
        add_name(source, read, before_value(read, end));
      }
    }
    for (int32_t skipped : states_.skips(state)) epsilon_.append(nb::make_tuple(source, at(skipped, false)));
  }

  // The state where the value of a member begins, the same for all members whose values are read alike up to one end.
  int32_t before_value(const Member& read, int32_t end) {
    const auto [found, is_new] = values_.try_emplace({read.languages.ptr(), read.calls.ptr(), end}, num_states_);
    if (is_new) {
      ++num_states_;
      add_value(found->second, read, end);
    }
    return found->second;
  }

  void add_value(int32_t source, const Member& read, int32_t end) {
    for (nb::handle language : read.languages) arc(source, language, end);
    for (nb::handle call : read.calls) {
      arc(source, call[0], num_states_);
      calls_.append(call_(num_states_++, call[1], nb::make_tuple(end)));
    }
  }

  // Adds the name of a member, up to the state where its value begins.
  void add_name(int32_t source, const Member& read, int32_t target) {
    const size_t last = read.names.size() - 1;
    for (size_t at = 0; at < last; ++at) {
      arc(source, read.names[at], num_states_);
      source = num_states_++;
    }
    arc(source, read.names[last], target);
  }

  void add_after(int32_t state) {
    const int32_t source = after_[state];
    arc(source, marks_.comma, at(state, false));
    if (states_.is_end(state)) arc(source, marks_.close, ended());
  }

  const PlainStates& states_;
  const nb::callable member_;
  const nb::handle call_;
  const Marks marks_;
  std::vector<int32_t> before_, after_;
  std::vector<std::pair<int32_t, bool>> waiting_;
  std::vector<std::optional<Member>> members_;
  // By the lists of what a value reads, which `members_` keeps alive, and by the state after it.
  std::map<std::tuple<PyObject*, PyObject*, int32_t>, int32_t> values_;
  int32_t num_states_ = 1, num_used_ = 0, end_ = -1;
  nb::list arcs_, epsilon_, calls_, ends_;
};

nb::tuple plain_rule(const PlainStates& states, nb::callable member, nb::handle call, nb::object opened,
                     nb::object empty, nb::object comma, nb::object close) {
  return RuleWriter(states, std::move(member), call,
                    {std::move(opened), std::move(empty), std::move(comma), std::move(close)})
      .write();
}

}  // namespace

void bind_plain(nb::module_& m) {
  nb::class_<PlainStates>(m, "PlainStates",
                          "The states of an array or object whose items or members are the same in all states.")
      .def_prop_ro("num_states", &PlainStates::num_states)
      .def("following", &following, nb::sig("def following(self, state: int, /) -> list[tuple[int, int]]"),
           "Return the numbers of the items or members that may come next, and the state after each.")
      .def("skips", &skips, nb::sig("def skips(self, state: int, /) -> list[int]"),
           "Return the states whose moves may be made in a state as well.")
      .def(
          "is_end", [](const PlainStates& states, int32_t state) { return states.is_end(checked(states, state)); },
          nb::sig("def is_end(self, state: int, /) -> bool"), "Return whether the array or object may end.");
  m.def(
      "in_any_order", &any_order_of, "num_listed"_a, "num_members"_a, "possible"_a, "required"_a, "remembered"_a,
      "orders"_a, "ahead"_a.none(), "most"_a,
      "Return the states of an object whose names come in any order, or near to some orders; and the number of moves, "
      "and whether they are all, or more than `most`.");
  m.def("in_order", &in_order_of, "num_listed"_a, "num_members"_a, "possible"_a, "required"_a, "second"_a.none(),
        "Return the states of an object whose names come in one order, or in that or a second one.");
  m.def("items_in_order", &items_of, "possible"_a, "low"_a, "high"_a.none(), "last"_a,
        "Return the states of an array, of which it is said by place whether there can be an item.");
  m.def(
      "plain_rule", &plain_rule, "states"_a, "member"_a, "call"_a, "opened"_a.none(), "empty"_a, "comma"_a, "close"_a,
      nb::sig("def plain_rule(states: PlainStates, member: collections.abc.Callable[[int], tuple[tuple[typing.Any, "
              "...], list[typing.Any], list[tuple[typing.Any, int]]]], call: type, opened: typing.Any, empty: "
              "typing.Any, comma: typing.Any, close: typing.Any) -> tuple[int, int, list[tuple[int, typing.Any, "
              "int]], list[tuple[int, int]], list[typing.Any], list[tuple[int, int]]]"),
      "Return the rule that reads a plain array or object: the number of states that stand for one of its own, that of "
      "all states, the arcs, the epsilon arcs, the calls and the ends.");
}

}  // namespace constraints
