// AnyOrder: the states of an object with variants whose members come in any order, all made beforehand.
//
//     Derivatives       what is left of the vector of formulas after a member; found by the reader of the schema
//     KnownDerivatives  the same, each found only once
//     AnyOrder          makes the states
//
// A state is a vector, by number, and the set of the names that may still come
// (`constraints/json_schema/containers/all_orders.py`). There are few vectors and many states. What a name does to a
// vector depends on the names to come only through which parts of the vector say something of any of them. So formulas
// are evaluated once for each vector and each such case, and a state costs a few look-ups for each name.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "constraints/containers/container_states.h"
#include "constraints/containers/name_set.h"

namespace constraints {

// A value of a member or an item, and the vector of what is required after it.
struct VectorOutcome {
  int32_t value, vector;
};

struct OtherNames {
  int32_t name;
  std::vector<VectorOutcome> outcomes;
};

// What is known of a vector: by part, the names that it says something of, and those that it requires; the names of
// which it matters whether they have come; and the effect of names that are not listed.
struct Described {
  std::vector<NameSet> said, required;
  NameSet matter;
  std::vector<OtherNames> others;
};

class Derivatives {
 public:
  virtual ~Derivatives() = default;
  virtual Described described(int32_t vector) = 0;
  // Return the outcomes of a member with a listed name, if the names in `remaining` may come after it.
  virtual std::vector<VectorOutcome> outcomes(int32_t vector, int32_t name, const NameSet& remaining) = 0;
  // Return the exit in which an object ends here, kNone if it must continue.
  virtual int32_t exit(int32_t vector, const NameSet& remaining) = 0;
};

class KnownDerivatives {
 public:
  // By part of a vector: whether it says something of any of a set of names, or requires any of them.
  using Flags = std::vector<bool>;

  KnownDerivatives() = default;
  KnownDerivatives(const KnownDerivatives&) = delete;
  KnownDerivatives& operator=(const KnownDerivatives&) = delete;

  const Described& described(int32_t vector, Derivatives& source) { return *known(vector, source).described; }
  // Return the number of the case of a set of names to come, for a vector. Sets are one case if the same parts say
  // something of them.
  int32_t case_of(int32_t vector, const NameSet& remaining, Derivatives& source);
  const std::vector<VectorOutcome>& outcomes(int32_t vector, int32_t name, int32_t number, const NameSet& remaining,
                                             Derivatives& source);
  int32_t exit(int32_t vector, const NameSet& remaining, Derivatives& source);

 private:
  struct Known {
    std::unique_ptr<const Described> described;
    std::unordered_map<Flags, int32_t> cases;
    // By case, then by name.
    std::vector<std::unordered_map<int32_t, std::vector<VectorOutcome>>> outcomes;
    std::unordered_map<Flags, int32_t> exits;
  };

  Known& known(int32_t vector, Derivatives& source);

  std::vector<std::unique_ptr<Known>> known_;
};

class AnyOrder {
 public:
  // `returning` has the names that may come again once it no longer matters whether they have come.
  AnyOrder(int32_t start, int32_t num_names, NameSet returning, Derivatives& source);

  // Make states until all are made, or until there are more outcomes than `most` or it is clear that there will be;
  // return whether all are made.
  bool make(int64_t most);

  ContainerStates states;

 private:
  struct State {
    int32_t vector;
    NameSet left;

    bool operator==(const State&) const = default;
  };
  struct Hash {
    size_t operator()(const State& state) const { return state.left.hash() * 31 + static_cast<size_t>(state.vector); }
  };

  void add(const State& state);
  void add_listed(const State& state, const Described& said);
  // Add the outcomes of a move after which the names `left` may come.
  void add_outcomes(const std::vector<VectorOutcome>& outcomes, const NameSet& left);
  // Return the number of a state, with the returning names that no longer matter among those that may come.
  int32_t kept(int32_t vector, NameSet left);
  int32_t number(const State& state);

  const int32_t num_names_;
  const NameSet returning_;
  KnownDerivatives known_;
  Derivatives& source_;
  std::vector<State> reached_;
  std::unordered_map<State, int32_t, Hash> numbers_;
};

}  // namespace constraints
