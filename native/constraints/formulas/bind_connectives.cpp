// Bindings of negations, conjunctions and disjunctions, and of the statements in a formula.
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "constraints/bindings.h"
#include "constraints/formulas/connectives.h"

namespace constraints {

namespace {

// Steps of `automata.limits.spend` for one part, which takes about half a microsecond, further work on it included.
constexpr int64_t kStepsPerPart = 4;
// The number of parts that are accounted for at once.
constexpr int64_t kPartsAtOnce = 128;

// Account for parts that were processed. Throw what the budget of the current compilation throws.
void spend_on(int64_t parts) {
  thread_local int64_t owed = 0;
  if ((owed += parts) < kPartsAtOnce) return;
  const int64_t steps = kStepsPerPart * std::exchange(owed, 0);
  nb::module_::import_("automata.limits").attr("spend")(steps);
}

nb::object known(PyObject* formula) { return nb::borrow(formula); }

// The parts of a conjunction or of a disjunction, without repetitions.
class Joining {
 public:
  Joining(PyTypeObject* kind, PyTypeObject* absorbing) : kind_(kind), absorbing_(absorbing) {}

  // Add a part, or its parts if it is the same connective. Return whether one of them decides the value.
  bool add(const Node& part) {
    if (part.type() != kind_) return add_one(part);
    for (nb::handle inner : part.fields()) {
      if (add_one(Node(inner))) return true;
    }
    return false;
  }

  nb::tuple parts() const { return nb::steal<nb::tuple>(PySequence_Tuple(kept_.ptr())); }
  int64_t looked_at() const { return looked_at_; }

 private:
  bool add_one(const Node& part) {
    ++looked_at_;
    if (part.type() == absorbing_) return true;
    if (negated_ && negated_->contains(part.object())) return true;
    if (part.type() == types().negation) {
      const nb::object inner = part.fields()[0];
      if (kept_.contains(inner)) return true;
      if (!negated_) negated_.emplace();
      negated_->add(inner);
    }
    if (PyDict_SetItem(kept_.ptr(), part.ptr(), Py_None) != 0) nb::raise_python_error();
    return false;
  }

  PyTypeObject *const kind_, *const absorbing_;
  nb::dict kept_;
  std::optional<nb::set> negated_;
  int64_t looked_at_ = 4;
};

nb::object joined(nb::handle parts, bool is_conjunction) {
  const Types& of = types();
  const nb::tuple given = nb::steal<nb::tuple>(PySequence_Tuple(parts.ptr()));
  if (!given.is_valid()) nb::raise_python_error();
  PyTypeObject* const neutral = is_conjunction ? of.always : of.never;
  std::vector<Node> found;
  found.reserve(given.size());
  for (nb::handle part : given) {
    if (Py_TYPE(part.ptr()) != neutral) found.emplace_back(part);
  }
  if (found.size() == 1) return found[0].object();
  PyTypeObject* const kind = is_conjunction ? of.conjunction : of.disjunction;
  Joining joining(kind, is_conjunction ? of.never : of.always);
  for (const Node& part : found) {
    if (joining.add(part)) return known(is_conjunction ? of.falsity : of.truth);
  }
  spend_on(joining.looked_at());
  nb::tuple kept = joining.parts();
  if (kept.size() == 0) return known(is_conjunction ? of.truth : of.falsity);
  return kept.size() == 1 ? nb::object(kept[0]) : Node::make(kind, std::move(kept)).object();
}

nb::object conjunction_of(nb::handle parts) { return joined(parts, true); }
nb::object disjunction_of(nb::handle parts) { return joined(parts, false); }
nb::object negation_of(nb::handle part) { return negated(Node(part)); }

nb::tuple parts_of(nb::handle formula) {
  const Node node(formula);
  return node.type() == types().conjunction ? node.fields() : nb::make_tuple(node.object());
}

// Call a function with each statement of a formula, from left to right, and with whether it stands under an odd number
// of negations (false without `tell_signs`). A connective that occurs several times is visited once for each sign.
template <class Function>
void each_statement(Node formula, bool tell_signs, Function function) {
  struct Place {
    Node node;
    bool denied;
  };
  std::vector<Place> waiting;
  waiting.push_back({std::move(formula), false});
  // By identity. Connectives are kept alive, since comparing equal formulas replaces the fields of one of them,
  // and may free its parts.
  std::unordered_set<const PyObject*> seen[2];
  std::vector<nb::object> kept;
  while (!waiting.empty()) {
    Place place = std::move(waiting.back());
    waiting.pop_back();
    if (!place.node.is_connective()) {
      function(place.node, place.denied);
    } else if (seen[place.denied].insert(place.node.ptr()).second) {
      const bool denied = place.denied != (tell_signs && place.node.type() == types().negation);
      const nb::tuple fields = place.node.fields();
      for (size_t at = fields.size(); at-- > 0;) waiting.push_back({Node(fields[at]), denied});
      kept.push_back(place.node.object());
    }
  }
}

nb::list statements_of(nb::handle formula) {
  nb::list found;
  each_statement(Node(formula), false, [&](const Node& node, bool) { found.append(node.object()); });
  return found;
}

nb::list signed_statements_of(nb::handle formula) {
  nb::list found;
  each_statement(Node(formula), true,
                 [&](const Node& node, bool denied) { found.append(nb::make_tuple(node.object(), denied)); });
  return found;
}

}  // namespace

nb::object negated(const Node& part) {
  const Types& of = types();
  if (part.type() == of.negation) return part.fields()[0];
  if (part.type() == of.always) return known(of.falsity);
  if (part.type() == of.never) return known(of.truth);
  return Node::make(of.negation, nb::make_tuple(part.object())).object();
}

nb::object rebuilt(PyTypeObject* connective, const nb::list& parts) {
  if (connective == types().negation) return negated(Node(parts[0]));
  return joined(parts, connective == types().conjunction);
}

void bind_connectives(nb::module_& m) {
  m.def("negation", &negation_of, nb::sig("def negation(part: Formula, /) -> Formula"),
        "Return the negation of a formula.");
  m.def("conjunction", &conjunction_of,
        nb::sig("def conjunction(parts: collections.abc.Iterable[Formula], /) -> Formula"),
        "Return a conjunction: flattened, without repetitions, and FALSE if it contains a formula and its negation.");
  m.def("disjunction", &disjunction_of,
        nb::sig("def disjunction(parts: collections.abc.Iterable[Formula], /) -> Formula"),
        "Return a disjunction: flattened, without repetitions, and TRUE if it contains a formula and its negation.");
  m.def("parts_of", &parts_of, nb::sig("def parts_of(formula: Formula, /) -> tuple[Formula, ...]"),
        "Return the parts of a conjunction; any other formula is its own only part.");
  m.def("statements", &statements_of, nb::sig("def statements(formula: Formula, /) -> list[Formula]"),
        "Return the statements of a formula from left to right, TRUE and FALSE included.");
  m.def("signed_statements", &signed_statements_of,
        nb::sig("def signed_statements(formula: Formula, /) -> list[tuple[Formula, bool]]"),
        "Return the statements of a formula from left to right, each with whether it stands under an odd number "
        "of negations.");
}

}  // namespace constraints
