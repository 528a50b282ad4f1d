// Formula: the Python objects that say something about one JSON value, as the core sees them in functions that are
// called thousands of times for a schema: hashes, comparisons, conjunctions, and passes over all parts.
//
//     Formula     an object's memory: its fields, and its hash
//     Types       the types of formulas that functions here distinguish
//     Node        a reference to a formula
//     Frame       a formula whose parts are being processed
//
// A formula may be of any depth and shares its parts, so passes keep a work stack and look at each connective once.
// Fields of equal formulas become one tuple when they are compared, so a function that runs Python code while it looks
// at fields must hold a reference to the tuple.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace constraints {

namespace nb = nanobind;

struct Formula {
  PyObject_HEAD  // a macro of Python's, which declares the first members
      PyObject* fields;
  Py_hash_t hash;
};

struct Types {
  PyTypeObject *formula, *always, *never, *negation, *conjunction, *disjunction;
  PyObject *truth, *falsity;

  bool is_connective(const PyTypeObject* type) const {
    return type == conjunction || type == disjunction || type == negation;
  }
};

// Return the types, which live as long as the module. `bind_formulas` makes them.
const Types& types();

class Node {
 public:
  // Throw TypeError if it is not a formula.
  explicit Node(nb::handle object);

  // Return a new formula of a type that adds no memory to formulas.
  static Node make(PyTypeObject* type, nb::tuple fields);

  PyTypeObject* type() const { return Py_TYPE(object_.ptr()); }
  Formula* memory() const { return reinterpret_cast<Formula*>(object_.ptr()); }
  nb::tuple fields() const;
  PyObject* ptr() const { return object_.ptr(); }
  const nb::object& object() const { return object_; }
  bool is_connective() const { return types().is_connective(type()); }

 private:
  struct Unchecked {};
  Node(nb::object made, Unchecked) : object_(std::move(made)) {}

  nb::object object_;
};

// A formula on the work stack of a pass: the results of its parts so far, and the index of the next part.
struct Frame {
  explicit Frame(const Node& formula) : node(formula), fields(formula.fields()) {}

  Node node;
  nb::tuple fields;
  nb::list results;
  size_t next = 0;
};

// Return whether two formulas are of one type and have equal fields, which they share from then on.
bool equal(const Node& one, const Node& other);

}  // namespace constraints
