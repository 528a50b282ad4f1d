// ToKind: the restriction of formulas to values of one kind (`constraints.json_schema.formulas.restriction`).
#include <optional>
#include <utility>
#include <vector>

#include "constraints/bindings.h"
#include "constraints/formulas/connectives.h"

namespace constraints {

namespace {

using namespace nanobind::literals;

class ToKind {
 public:
  // `about`: the types of statements about values of the kind. `of_kind`: the type of statements that name a kind.
  // `reference`: the type of references, whose field is the key of a definition. `circular`: called with the key of a
  // reference that leads back to itself, and raises.
  ToKind(nb::object kind, nb::frozenset about, nb::type_object of_kind, nb::type_object reference,
         nb::object definitions, nb::callable circular)
      : kind_(std::move(kind)),
        about_(std::move(about)),
        of_kind_(std::move(of_kind)),
        reference_(std::move(reference)),
        definitions_(std::move(definitions)),
        circular_(std::move(circular)) {}

  nb::object of(nb::handle formula) {
    if (nb::object found = known(formula)) return found;
    try {
      begin(Node(formula));
      return run();
    } catch (...) {
      around_.clear();
      references_.clear();
      is_false_ = false;
      throw;
    }
  }

 private:
  // Return the restriction of a formula, or nothing if its parts must be restricted first.
  nb::object known(nb::handle formula) const {
    const Node node(formula);
    const Types& of = types();
    PyTypeObject* const type = node.type();
    if (node.is_connective() || is(type, reference_)) {
      PyObject* const found = PyDict_GetItemWithError(done_.ptr(), formula.ptr());
      if (!found && PyErr_Occurred()) nb::raise_python_error();
      return found ? nb::borrow(found) : nb::object();
    }
    if (about_.contains(nb::handle(reinterpret_cast<PyObject*>(type)))) return node.object();
    if (is(type, of_kind_)) return nb::borrow(node.fields()[0].is(kind_) ? of.truth : of.falsity);
    return nb::borrow(type == of.never ? of.falsity : of.truth);
  }

  static bool is(const PyTypeObject* type, const nb::type_object& other) {
    return reinterpret_cast<const PyObject*>(type) == other.ptr();
  }

  void refuse(const nb::object& key) const {
    circular_(key);
    throw nb::value_error("a reference leads back to itself");
  }

  void begin(Node node) {
    if (is(node.type(), reference_)) {
      const nb::object key = node.fields()[0];
      if (references_.contains(key)) refuse(key);
      references_.add(key);
    }
    around_.emplace_back(node);
  }

  nb::object run() {
    while (true) {
      Frame& frame = around_.back();
      std::optional<nb::object> result = next_part(frame);
      if (!result) continue;
      if (PyDict_SetItem(done_.ptr(), frame.node.ptr(), result->ptr()) != 0) nb::raise_python_error();
      if (is(frame.node.type(), reference_)) references_.discard(frame.fields[0]);
      around_.pop_back();
      if (around_.empty()) return *result;
      keep(around_.back(), *result);
    }
  }

  // Return the result if no part is left, or if a conjunction is false already. Otherwise restrict the next part, or
  // begin to.
  std::optional<nb::object> next_part(Frame& frame) {
    const Types& of = types();
    const bool is_reference = is(frame.node.type(), reference_);
    const bool is_conjunction = frame.node.type() == of.conjunction;
    if (is_conjunction && is_false_) {
      is_false_ = false;
      return nb::borrow(of.falsity);
    }
    if (frame.next == frame.fields.size()) return result_of(frame);
    nb::object part = frame.fields[frame.next++];
    if (is_reference) part = definitions_[part];
    if (nb::object found = known(part)) {
      keep(frame, found);
    } else {
      begin(Node(part));
    }
    return std::nullopt;
  }

  // Keep the restriction of a part.
  void keep(Frame& frame, const nb::object& found) {
    const Types& of = types();
    if (frame.node.type() == of.conjunction) {
      // No value of the kind satisfies the conjunction, whatever its other parts are.
      if (found.ptr() == of.falsity) is_false_ = true;
      if (found.ptr() == of.truth) return;
    }
    frame.results.append(found);
  }

  nb::object result_of(const Frame& frame) const {
    if (is(frame.node.type(), reference_)) return frame.results[0];
    if (frame.node.type() == types().conjunction && frame.results.size() == frame.fields.size()) {
      bool is_same = true;
      for (size_t at = 0; at < frame.fields.size() && is_same; ++at) {
        is_same = nb::object(frame.results[at]).equal(frame.fields[at]);
      }
      if (is_same) return frame.node.object();
    }
    return rebuilt(frame.node.type(), frame.results);
  }

  const nb::object kind_;
  const nb::frozenset about_;
  const nb::type_object of_kind_, reference_;
  const nb::object definitions_;
  const nb::callable circular_;
  // The known restrictions of connectives and references.
  nb::dict done_;
  std::vector<Frame> around_;
  nb::set references_;  // the keys of the references in `around_`
  // Whether a part of the innermost conjunction is FALSE.
  bool is_false_ = false;
};

}  // namespace

void bind_restriction(nb::module_& m) {
  nb::class_<ToKind>(m, "ToKind", "The restriction of formulas to values of one kind. Results are cached.")
      .def(nb::init<nb::object, nb::frozenset, nb::type_object, nb::type_object, nb::object, nb::callable>(), "kind"_a,
           "about"_a, "of_kind"_a, "reference"_a, "definitions"_a, "circular"_a,
           nb::sig("def __init__(self, kind: typing.Any, about: frozenset[type[Formula]], of_kind: type[Formula], "
                   "reference: type[Formula], definitions: collections.abc.Mapping[typing.Any, Formula], circular: "
                   "collections.abc.Callable[[typing.Any], None]) -> None"),
           "Restrict to `kind`. `about` has the types of statements about values of this kind. `circular` is called "
           "with the key of a reference that leads back to itself, and raises.")
      .def("__call__", &ToKind::of, nb::sig("def __call__(self, formula: Formula, /) -> Formula"),
           "Return the restriction of a formula to values of the kind.");
}

}  // namespace constraints
