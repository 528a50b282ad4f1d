// Memory: what has to be remembered of a text for arrays whose items must differ.
//
//     Part        an item of an array, or a member of an object, and those before it
//     Container   an array or object under way: what is complete in it, and what it may still become
//     Memory      the containers that are open, from the outermost such array on, and the scalar under way
//
// An array whose items must differ keeps its *rivals*: the earlier items that the item under way may still become. At
// the comma they are all items, and each byte leaves fewer; without any the item will differ, whatever follows. An
// object keeps the rivals of the name under way, as no name comes twice: else what an item is would depend on who reads
// it. Where a rival is an array or object, the container that may become it has it as a *candidate*, or has the part of
// it that it may become. So all that something under way may become stands in the innermost container.
//
// Memories are values, and share what they have in common. Containers, and the parts of one, are lists as long as a
// text, so nothing here recurses.
//
// Rejected: rivals with a path into each, looked up again for each byte (a candidate is that path, followed once).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/bits.h"
#include "tokenfst/unique_items/scalar.h"
#include "tokenfst/unique_items/value.h"

namespace tokenfst::unique_items {

struct Part {
  std::shared_ptr<const Part> before;
  std::string name;  // of a member
  ValuePointer value;
  size_t count;  // of parts up to this one
  uint64_t hash;

  Part(std::shared_ptr<const Part> before_it, std::string own_name, ValuePointer own_value);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part();
};

struct Container {
  std::shared_ptr<const Container> outer;
  bool is_object, is_unique;
  std::shared_ptr<const Part> parts;  // the last one; null for none
  std::optional<std::string> name;    // the name whose value comes next
  // Parts: the items that the item under way may become, if items must differ; those with the names that the name under
  // way may become.
  std::vector<const Part*> rivals;
  // What the container itself may become; parts of rivals of those around it, which own them.
  std::vector<const Value*> candidates;
  uint64_t hash = 0;  // of all but the last two

  size_t count() const { return parts ? parts->count : 0; }
  // The value that is complete.
  ValuePointer value() const;
  // The item or the value of a member that comes next in a candidate; null for none.
  const ValuePointer* next_in(const Value& candidate) const;
  // Whether there is a member with a name.
  bool has(std::string_view own_name) const;

  Container(std::shared_ptr<const Container> around, bool reads_object, bool must_differ)
      : outer(std::move(around)),
        is_object(reads_object),
        is_unique(must_differ) {}
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container();
};

// What a byte does beside being read.
enum class Step : uint8_t {
  kNone,
  kRepeats,  // an item ends that was there
  kRefused,  // a name ends that was there
};

class Memory {
 public:
  // Whether something under way may still become what was there.
  bool has_rivals() const { return open_ && !(open_->rivals.empty() && open_->candidates.empty()); }
  // How many values that something under way may still become were there.
  size_t num_rivals() const { return open_ ? open_->rivals.size() + open_->candidates.size() : 0; }
  // Whether some array is open whose items must differ.
  bool is_open() const { return open_ != nullptr; }
  const Scalar& scalar() const { return scalar_; }
  const Container* innermost() const { return open_.get(); }

  // End the number or word under way if a byte ends it, which is to be read next.
  Step end_before(uint8_t byte);
  // Read one more byte with which the text may continue. Throw TooLong if an exponent is too long to be remembered.
  Step read(uint8_t byte, bool begins_unique);
  // Read more of a string that is under way, without quotation marks and backslashes.
  void read_text(std::string_view text);
  // Bytes such that after any other one nothing under way has rivals, if a string is under way and no escape.
  support::ByteSet bytes_for_rivals() const;
  // The same without the zeros at the end of a number under way.
  Memory without_last_zeros() const;

  uint64_t hash() const;
  friend bool operator==(const Memory& left, const Memory& right);

 private:
  Step read_mark(uint8_t byte, bool begins_unique);
  void open(bool is_object, bool is_unique);
  void separate();
  Step end(ValuePointer value);
  Step end_name(const Value& name);
  Step end_item(ValuePointer value);
  ValuePointer shared(ValuePointer value) const;
  void settle();
  bool may_follow(const Outlook& outlook, const Value& candidate) const;
  template <class Change>
  void change(Change change);

  std::shared_ptr<const Container> open_;
  Scalar scalar_;
};

}  // namespace tokenfst::unique_items
