// CollectionsPaused: pauses Python's cyclic garbage collector while many objects are created, all of which stay alive.
//
// Reading a schema or a grammar creates tens of thousands of small objects, none of which becomes garbage meanwhile.
// Whenever enough objects had been allocated, the collector traversed all of them; for large schemas that took as long
// as everything else. Mercurial pauses it as well where it builds large tables (its `util.nogc`).
//
// The collector belongs to the process, so the pauses of all threads are counted together: the first pause disables it,
// and the end of the last one enables it again if it was enabled before. Ctrl-C may arrive between any two bytecode
// instructions, so a pause also ends when its object is destroyed. The class is not written in Python, because Python
// ignores exceptions in `__del__`, and Ctrl-C there would be lost.
#include "automata/bindings.h"

namespace automata {

namespace {

// Both are guarded by Python's lock, which is held whenever a pause begins or ends.
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
      "A context in which Python's garbage collector does not run. If it was disabled before, it stays disabled.")
      .def(nb::init<>())
      .def("__enter__", &CollectionsPaused::begin)
      .def(
          "__exit__", [](CollectionsPaused& self, const nb::args&) { self.end(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace automata
