// Passes over a formula that visit each connective once, however often it occurs.
//
//     fold            computes a value of any type from the values of the statements
//     Substitution    replaces the statements
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/bindings.h"
#include "constraints/formulas/connectives.h"

namespace constraints {

namespace {

// Connectives, by address, with their values. Connectives are kept alive, so that no other object gets their address.
using Values = std::unordered_map<const PyObject*, std::pair<nb::object, nb::object>>;

// Return the value of a formula. `statement` returns the value of a statement, and `combine` that of a connective,
// given the values of its parts. `done` holds the known values of connectives; new ones are added.
template <class Statement, class Combine>
nb::object folded(const Node& formula, Values& done, Statement statement, Combine combine) {
  if (!formula.is_connective()) return statement(formula.object());
  if (const auto known = done.find(formula.ptr()); known != done.end()) return known->second.second;
  std::vector<Frame> around;
  around.emplace_back(formula);
  while (true) {
    Frame& frame = around.back();
    if (frame.next == frame.fields.size()) {
      nb::object value = combine(frame);
      done.try_emplace(frame.node.ptr(), frame.node.object(), value);
      around.pop_back();
      if (around.empty()) return value;
      around.back().results.append(value);
      continue;
    }
    const nb::object part = frame.fields[frame.next++];
    if (!types().is_connective(Py_TYPE(part.ptr()))) {
      frame.results.append(statement(part));
    } else if (const auto known = done.find(part.ptr()); known != done.end()) {
      frame.results.append(known->second.second);
    } else {
      around.emplace_back(Node(part));
    }
  }
}

nb::object fold(nb::handle formula, nb::callable statement, nb::callable combine) {
  Values done;
  return folded(Node(formula), done, statement,
                [&](const Frame& frame) { return combine(frame.node.object(), frame.results); });
}

class Substitution {
 public:
  explicit Substitution(nb::object statement) : statement_(std::move(statement)) {
    is_listed_ = nb::isinstance<nb::dict>(statement_);
    if (!is_listed_ && !nb::isinstance<nb::callable>(statement_))
      throw nb::type_error("a dict or a function is needed");
  }

  nb::object of(nb::handle formula) {
    return folded(
        Node(formula), done_, [&](const nb::object& part) { return replaced(part); },
        [&](const Frame& frame) { return combined(frame); });
  }

  nb::tuple all(nb::iterable formulas) {
    nb::list found;
    for (nb::handle formula : formulas) found.append(of(formula));
    return nb::tuple(found);
  }

  int64_t work() const { return work_; }

 private:
  nb::object replaced(const nb::object& part) const {
    if (!is_listed_) return statement_(part);
    PyObject* const found = PyDict_GetItemWithError(statement_.ptr(), part.ptr());
    if (!found && PyErr_Occurred()) nb::raise_python_error();
    return found ? nb::borrow(found) : part;
  }

  nb::object combined(const Frame& frame) {
    work_ += static_cast<int64_t>(frame.fields.size());
    // Most connectives contain none of the statements that change, and remain the same object.
    for (size_t at = 0; at < frame.fields.size(); ++at) {
      if (!frame.fields[at].is(nb::object(frame.results[at]))) return rebuilt(frame.node.type(), frame.results);
    }
    return frame.node.object();
  }

  nb::object statement_;
  bool is_listed_;
  Values done_;
  int64_t work_ = 0;
};

}  // namespace

void bind_folding(nb::module_& m) {
  m.def("fold", &fold,
        nb::sig("def fold(formula: Formula, statement: collections.abc.Callable[[Formula], typing.Any], combine: "
                "collections.abc.Callable[[Formula, list[typing.Any]], typing.Any], /) -> typing.Any"),
        "Return the value of a formula. `statement` returns the value of each statement, and `combine` that of each "
        "connective, given the values of its parts.");
  nb::class_<Substitution>(
      m, "Substitution",
      "Replaces the statements of formulas. A connective that occurs several times is processed once.")
      .def(nb::init<nb::object>(),
           nb::sig("def __init__(self, statement: dict[Formula, Formula] | collections.abc.Callable[[Formula], "
                   "Formula], /) -> None"),
           "Replace each statement by what a function returns for it, or by its value in a dict if it has one.")
      .def("__call__", &Substitution::of, nb::sig("def __call__(self, formula: Formula, /) -> Formula"),
           "Return a formula with its statements replaced.")
      .def("all", &Substitution::all,
           nb::sig("def all(self, formulas: collections.abc.Iterable[Formula], /) -> tuple[Formula, ...]"),
           "Return several formulas with their statements replaced.")
      .def_prop_ro("work", &Substitution::work, "The number of parts of the connectives processed so far.");
}

}  // namespace constraints
