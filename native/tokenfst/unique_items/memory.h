// Memory: everything about a text that has to be remembered for arrays whose items must differ.
//
//     Part        an item of an array, or a member of an object, and those before it
//     Container   an open array or object: its complete parts, and the earlier values that it may still become
//     Memory      the open containers, from the outermost array whose items must differ on, and the current scalar
//
// An array whose items must differ keeps the *rivals* of the current item: the earlier items that it may still become.
// At the comma these are all items, and each byte leaves fewer; once none is left the item differs, whatever follows.
// An object keeps the rivals of the current name, since no name may come twice: otherwise parsers would disagree on the
// object's value. Where a rival is an array or object, the container that may become it, or a part of it, has that
// value as a *candidate*. So everything that may still be repeated is found in the innermost container.
//
// Memories are values, and share what they have in common. Containers, and the parts of one, are lists as long as a
// text, so nothing here recurses.
//
// Rejected: rivals with a path into each, followed again for each byte (a candidate is the end of such a path).
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
  // Mutable, since the destructor takes apart a chain that nothing else owns.
  mutable std::shared_ptr<const Part> before;
  std::string name;  // of a member
  ValuePointer value;
  size_t count;  // the number of parts up to this one
  uint64_t hash;

  Part(std::shared_ptr<const Part> before_it, std::string own_name, ValuePointer own_value);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part();
};

struct Container {
  mutable std::shared_ptr<const Container> outer;  // mutable as in Part
  bool is_object, is_unique;
  std::shared_ptr<const Part> parts;  // the last one; null for none
  std::optional<std::string> name;    // the name whose value comes next
  // The parts that may be repeated: of an array whose items must differ, those whose value the current item may become;
  // of an object, those whose name the current name may become.
  std::vector<const Part*> rivals;
  // The values that the container itself may become. They are parts of rivals of the containers around it, which own
  // them.
  std::vector<const Value*> candidates;
  uint64_t hash = 0;  // of everything but `rivals` and `candidates`

  size_t count() const { return parts ? parts->count : 0; }
  // Return the value of the container, which must be complete.
  ValuePointer value() const;
  // Return the item, or the value of the member, that comes next here in a candidate; null if there is none.
  const ValuePointer* next_in(const Value& candidate) const;
  // Return whether there is a member with a name.
  bool has(std::string_view own_name) const;

  Container(std::shared_ptr<const Container> around, bool reads_object, bool must_differ)
      : outer(std::move(around)),
        is_object(reads_object),
        is_unique(must_differ) {}
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container();
};

// An effect of a byte on the memory that the caller has to act on.
enum class Step : uint8_t {
  kNone,
  kRepeats,  // an item ends that repeats an earlier one
  kRefused,  // a name ends that repeats an earlier one
};

class Memory {
 public:
  // Return whether the current item, or a name or value in it, may still repeat an earlier one.
  bool has_rivals() const { return open_ && !(open_->rivals.empty() && open_->candidates.empty()); }
  // Return the number of rivals and candidates of the innermost container.
  size_t num_rivals() const { return open_ ? open_->rivals.size() + open_->candidates.size() : 0; }
  // Return about how much is remembered: the parts of the open containers, and their rivals and candidates.
  size_t size() const;
  // Return whether an array is open whose items must differ.
  bool is_open() const { return open_ != nullptr; }
  const Scalar& scalar() const { return scalar_; }
  const Container* innermost() const { return open_.get(); }

  // End the current number or word if `byte` ends it; the byte itself is to be read next.
  Step end_before(uint8_t byte);
  // Read one more byte with which the text may continue. Throw TooLong if an exponent is too long to be remembered.
  Step read(uint8_t byte, bool begins_unique);
  // Read more of the current string, without quotation marks and backslashes.
  void read_text(std::string_view text);
  // Return the bytes after which rivals may be left, if the current scalar is a string, outside of escapes: after any
  // other byte there are none.
  support::ByteSet bytes_for_rivals() const;
  // Return the same memory without the zeros at the end of the current number.
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
