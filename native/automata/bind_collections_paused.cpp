// CollectionsPaused: keeps Python's cyclic garbage collector from running while many objects are made that all stay.
//
// A schema or a grammar becomes tens of thousands of small objects, of which none is garbage before it has been read.
// Each time enough of them have been made, the collector looks at all of them; for large schemas that took as long as
// everything else. Mercurial does the same where it builds large tables (its `util.nogc`).
//
// The collector is the process's, so the pauses of all threads are counted together: the first one switches it off, and
// the last one on again, if it was on before. Ctrl-C may come between any two instructions of Python, so a pause ends
// at the latest with its object. It is not written in Python, where Ctrl-C during `__del__` would be lost.
#include "automata/bindings.h"

namespace automata {

namespace {

// Pauses begin and end with the interpreter's lock held.
int64_t num_pauses = 0;
bool was_enabled = false;

class CollectionsPaused {
 public:
  CollectionsPaused() = default;
  CollectionsPaused(const CollectionsPaused&) = delete;
  CollectionsPaused& operator=(const CollectionsPaused&) = delete;
  ~CollectionsPaused() { end(); }

  void begin() {
    if (has_begun_) return;
    has_begun_ = true;
    const bool enabled = PyGC_Disable() != 0;
    if (num_pauses++ == 0) was_enabled = enabled;
  }
  void end() {
    if (!has_begun_) return;
    has_begun_ = false;
    if (--num_pauses == 0 && was_enabled) PyGC_Enable();
  }

 private:
  bool has_begun_ = false;
};

}  // namespace

void bind_collections_paused(nb::module_& m) {
  nb::class_<CollectionsPaused>(
      m, "CollectionsPaused",
      "A context in which Python's garbage collector does not run. Where it was off before, it stays off.")
      .def(nb::init<>())
      .def("__enter__", &CollectionsPaused::begin)
      .def(
          "__exit__", [](CollectionsPaused& self, const nb::args&) { self.end(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace automata
