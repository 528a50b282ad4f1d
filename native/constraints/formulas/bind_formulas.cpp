// The type of formulas. It is defined with Python's C API: a schema has thousands of formulas, and an object of
// nanobind takes three times as long to create.
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "constraints/bindings.h"
#include "constraints/formulas/formula.h"

#if !defined(Py_T_OBJECT_EX)
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace constraints {

namespace {

Types made;

Formula* memory_of(PyObject* self) { return reinterpret_cast<Formula*>(self); }

// Set the fields of a new formula. Return false, with a Python error set, if they cannot be hashed. A formula consists
// of objects that existed before and never changes, so it is part of no reference cycle, and the garbage collector need
// not track it or its fields.
bool fill(PyObject* self, PyObject* fields) {
  const Py_hash_t of_fields = PyObject_Hash(fields);
  if (of_fields == -1) return false;
  const auto of_type = static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(Py_TYPE(self)) >> 4);
  const Py_hash_t hash = of_fields ^ (of_type * 1000003);
  memory_of(self)->hash = hash == -1 ? -2 : hash;
  Py_INCREF(fields);
  memory_of(self)->fields = fields;
  if (PyObject_GC_IsTracked(self)) PyObject_GC_UnTrack(self);
  PyObject_GC_UnTrack(fields);
  return true;
}

int init(PyObject* self, PyObject* fields, PyObject* named) {
  if (memory_of(self)->fields || (named && PyDict_Size(named))) {
    PyErr_SetString(PyExc_TypeError, "a formula takes its fields by position, once");
    return -1;
  }
  return fill(self, fields) ? 0 : -1;
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(memory_of(self)->fields);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

Py_hash_t hash(PyObject* self) { return memory_of(self)->hash; }

PyObject* compare(PyObject* self, PyObject* other, int how) {
  if (how != Py_EQ && how != Py_NE) return Py_NewRef(Py_NotImplemented);
  bool same = self == other;
  if (!same && Py_TYPE(self) == Py_TYPE(other) && memory_of(self)->hash == memory_of(other)->hash) {
    try {
      same = equal(Node(self), Node(other));
    } catch (nb::python_error& error) {
      error.restore();
      return nullptr;
    } catch (const std::bad_alloc&) {
      return PyErr_NoMemory();
    }
  }
  return PyBool_FromLong(same == (how == Py_EQ));
}

PyObject* repr(PyObject* self) {
  try {
    nb::list listed;
    for (nb::handle part : Node(self).fields()) listed.append(nb::repr(part));
    const nb::object name = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(self))).attr("__name__");
    return nb::str("{}({})").format(name, nb::str(", ").attr("join")(listed)).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* reduce(PyObject* self, PyObject*) {
  return PyTuple_Pack(2, reinterpret_cast<PyObject*>(Py_TYPE(self)), Node(self).fields().ptr());
}

// The approximate memory of a formula, apart from the objects in its fields, and that of an item of a set.
constexpr int64_t kFormulaBytes = 100, kItemBytes = 60;

class Weighing {
 public:
  int64_t num_bytes(nb::handle formula) {
    waiting_.push_back(nb::borrow(formula));
    while (!waiting_.empty()) {
      const nb::object part = std::move(waiting_.back());
      waiting_.pop_back();
      if (!seen_.insert(part.ptr()).second) continue;
      for (nb::handle field : Node(part).fields()) add(field);
      total_ += kFormulaBytes;
      kept_.push_back(part);
    }
    return total_;
  }

 private:
  void add(nb::handle field) {
    if (PyObject_TypeCheck(field.ptr(), made.formula)) {
      waiting_.push_back(nb::borrow(field));
    } else if (nb::isinstance<nb::str>(field)) {
      total_ += PyUnicode_GetLength(field.ptr());
    } else if (nb::isinstance<nb::frozenset>(field)) {
      for (nb::handle item : field) total_ += kItemBytes, add(item);
    } else {
      total_ += nb::cast<int64_t>(nb::getattr(field, "nbytes", nb::int_(0)));
    }
  }

  int64_t total_ = 0;
  std::vector<nb::object> waiting_;
  // By identity. Formulas are kept alive, since comparing equal formulas replaces the fields of one of them, and
  // may free its parts.
  std::unordered_set<const PyObject*> seen_;
  std::vector<nb::object> kept_;
};

PyObject* num_bytes(PyObject* self, void*) {
  try {
    return PyLong_FromLongLong(Weighing().num_bytes(self));
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// A descriptor for one field of formulas, given its position.
struct Field {
  PyObject_HEAD  // a macro of Python's, which declares the first members
      Py_ssize_t place;
};

PyObject* get(PyObject* self, PyObject* formula, PyObject*) {
  if (!formula || formula == Py_None) return Py_NewRef(self);
  if (!PyObject_TypeCheck(formula, made.formula)) {
    PyErr_SetString(PyExc_TypeError, "only formulas have fields");
    return nullptr;
  }
  const nb::tuple fields = Node(formula).fields();
  return Py_XNewRef(PyTuple_GetItem(fields.ptr(), reinterpret_cast<Field*>(self)->place));
}

void free_field(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

nb::object field(Py_ssize_t place) {
  static PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(get)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(free_field)},
                                {0, nullptr}};
  static PyType_Spec spec = {"constraints._native.Field", sizeof(Field), 0, Py_TPFLAGS_DEFAULT, slots};
  static PyObject* const type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  nb::object found = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0));
  if (!found.is_valid()) nb::raise_python_error();
  reinterpret_cast<Field*>(found.ptr())->place = place;
  return found;
}

PyTypeObject* formula_type(nb::module_& m) {
  static PyMemberDef members[] = {
      {"fields", Py_T_OBJECT_EX, offsetof(Formula, fields), Py_READONLY, "The fields of the formula, in order."},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef properties[] = {
      {"nbytes", num_bytes, nullptr, "The approximate memory of the formula, in bytes.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static char doc[] = "A statement about one JSON value.";
  static PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(init)},
                                {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                                {Py_tp_repr, reinterpret_cast<void*>(repr)},
                                {Py_tp_members, members},
                                {Py_tp_getset, properties},
                                {Py_tp_methods, methods},
                                {Py_tp_doc, doc},
                                {0, nullptr}};
  static PyType_Spec spec = {"constraints._native.Formula", sizeof(Formula), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* const type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  m.attr("Formula") = nb::handle(type);
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

const Types& types() { return made; }

Node::Node(nb::handle object) : object_(nb::borrow(object)) {
  if (!PyObject_TypeCheck(object.ptr(), made.formula)) throw nb::type_error("a formula was expected");
}

Node Node::make(PyTypeObject* type, nb::tuple fields) {
  nb::object found = nb::steal(PyType_GenericAlloc(type, 0));
  if (!found.is_valid() || !fill(found.ptr(), fields.ptr())) nb::raise_python_error();
  return Node(std::move(found), Unchecked());
}

nb::tuple Node::fields() const {
  // There are none before `__init__` is called.
  return memory()->fields ? nb::borrow<nb::tuple>(memory()->fields) : nb::tuple();
}

namespace {

using Pair = std::pair<Node, Node>;

struct PairHash {
  size_t operator()(const std::pair<PyObject*, PyObject*>& pair) const {
    return std::hash<PyObject*>()(pair.first) * 31 + std::hash<PyObject*>()(pair.second);
  }
};

// Compares two formulas, each pair of their parts once.
class Comparison {
 public:
  explicit Comparison(Pair pair) { pairs_.push_back(std::move(pair)); }

  bool run() {
    for (size_t at = 0; at < pairs_.size(); ++at) {
      const nb::tuple mine = pairs_[at].first.fields(), theirs = pairs_[at].second.fields();
      if (mine.size() != theirs.size()) return false;
      for (size_t place = 0; place < mine.size(); ++place) {
        if (!may_be_equal(mine[place], theirs[place])) return false;
      }
    }
    return true;
  }

  void share() const {
#if !defined(Py_GIL_DISABLED)
    for (const auto& [one, other] : pairs_) {
      PyObject* const before = std::exchange(other.memory()->fields, Py_XNewRef(one.memory()->fields));
      Py_XDECREF(before);
    }
#endif
  }

 private:
  // Return false if two fields differ. Queue formulas whose own fields must be compared.
  bool may_be_equal(nb::handle mine, nb::handle theirs) {
    if (mine.ptr() == theirs.ptr()) return true;
    if (!PyObject_TypeCheck(mine.ptr(), made.formula)) return mine.equal(theirs);
    if (Py_TYPE(mine.ptr()) != Py_TYPE(theirs.ptr())) return false;
    const Formula *one = memory_of(mine.ptr()), *other = memory_of(theirs.ptr());
    if (one->hash != other->hash) return false;
    if (one->fields != other->fields && seen_.emplace(mine.ptr(), theirs.ptr()).second) {
      pairs_.emplace_back(Node(mine), Node(theirs));
    }
    return true;
  }

  std::vector<Pair> pairs_;
  std::unordered_set<std::pair<PyObject*, PyObject*>, PairHash> seen_;
};

}  // namespace

bool equal(const Node& one, const Node& other) {
  if (one.ptr() == other.ptr()) return true;
  if (one.type() != other.type() || one.memory()->hash != other.memory()->hash) return false;
  if (one.memory()->fields == other.memory()->fields) return true;
  Comparison comparison({one, other});
  if (!comparison.run()) return false;
  comparison.share();
  return true;
}

namespace {

PyTypeObject* type_of(nb::handle type) {
  PyTypeObject* const found = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_Check(type.ptr()) || !PyType_IsSubtype(found, made.formula)) throw nb::type_error("no type of formulas");
  return reinterpret_cast<PyTypeObject*>(Py_NewRef(type.ptr()));
}

// Called once, when Python defines the types, which live as long as the module.
nb::tuple set_connectives(nb::handle always, nb::handle never, nb::handle negation, nb::handle conjunction,
                          nb::handle disjunction) {
  made.always = type_of(always), made.never = type_of(never), made.negation = type_of(negation);
  made.conjunction = type_of(conjunction), made.disjunction = type_of(disjunction);
  made.truth = Node::make(made.always, nb::tuple()).object().inc_ref().ptr();
  made.falsity = Node::make(made.never, nb::tuple()).object().inc_ref().ptr();
  return nb::make_tuple(nb::handle(made.truth), nb::handle(made.falsity));
}

}  // namespace

void bind_formulas(nb::module_& m) {
  using namespace nb::literals;
  made.formula = formula_type(m);
  m.def(
      "set_connectives", &set_connectives, "always"_a, "never"_a, "negation"_a, "conjunction"_a, "disjunction"_a,
      nb::sig("def set_connectives(always: type[Formula], never: type[Formula], negation: type[Formula], conjunction: "
              "type[Formula], disjunction: type[Formula]) -> tuple[Formula, Formula]"),
      "Set the types of the constants and the connectives, and return TRUE and FALSE. Called once.");
  m.def("field", &field, "place"_a, nb::sig("def field(place: int) -> typing.Any"),
        "Return a descriptor for the field of a formula at a position.");
}

}  // namespace constraints
