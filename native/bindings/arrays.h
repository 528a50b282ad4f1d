// Arrays across the boundary with Python: arguments are checked, results are handed over without a copy.
//
//     Values<T>    a one-dimensional array `[n]` of T, as a span
//     Records<S>   an int32 array `[n, sizeof(S) / 4]` as a span of records S
//     Grid<T>      a two-dimensional array `[n, m]` of T
//     Output<T>, OutputGrid<T>   arrays of one and two dimensions that are written to
//
// An argument of another type, number of dimensions or layout is a TypeError, and nothing is ever converted: a copy
// would hide a slow call, and writes to it would be lost. Bindings check values themselves, with `require`.
//
//     array(values), records(values), grid(values, rows, columns)   numpy arrays that own their data
//     view_of(values, owner), shown<&Class::member>                 read-only views of data that an object owns
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bindings {

namespace nb = nanobind;

template <class T>
struct Values : std::span<const T> {
  using std::span<const T>::span;
};

template <class S>
struct Records : std::span<const S> {
  using std::span<const S>::span;
};

template <class T>
struct Grid {
  std::span<const T> values;
  size_t rows = 0, columns = 0;
  std::span<const T> operator[](size_t row) const { return values.subspan(row * columns, columns); }
};

template <class T>
struct Output : std::span<T> {
  using std::span<T>::span;
};

template <class T>
struct OutputGrid {
  std::span<T> values;
  size_t rows = 0, columns = 0;
};

// Throw ValueError unless a condition holds. A message that takes time to build is passed as a function.
template <class Message>
void require(bool condition, const Message& otherwise) {
  if (condition) return;
  if constexpr (std::is_invocable_v<const Message&>) {
    throw nb::value_error(std::string(otherwise()).c_str());
  } else {
    static_assert(std::is_convertible_v<const Message&, const char*>, "a message is a literal or a function");
    throw nb::value_error(otherwise);
  }
}

// Require all values to be at least `low` and below `end`.
template <std::ranges::input_range Numbers>
void require_within(const Numbers& numbers, int64_t low, int64_t end, const char* what) {
  for (int64_t number : numbers) {
    require(low <= number && number < end, [&] {
      return std::string(what) + " " + std::to_string(number) + " is not between " + std::to_string(low) + " and " +
             std::to_string(end - 1);
    });
  }
}
inline void require_within(int64_t number, int64_t low, int64_t end, const char* what) {
  require_within(std::array{number}, low, end, what);
}

// Require offsets of rows: they begin with 0, ascend, and end with the number of elements.
template <class Offsets>
void require_offsets(const Offsets& offsets, size_t num_rows, size_t num_elements, const char* what) {
  require(offsets.size() == num_rows + 1, [&] {
    return std::string(what) + " has " + std::to_string(offsets.size()) + " offsets for " + std::to_string(num_rows) +
           " rows";
  });
  require(offsets[0] == 0 && offsets[num_rows] == static_cast<int64_t>(num_elements),
          [&] { return std::string(what) + " does not span its elements"; });
  for (size_t row = 0; row < num_rows; ++row) {
    require(offsets[row] <= offsets[row + 1], [&] { return std::string(what) + " does not ascend"; });
  }
}

// Require a size whose elements int32 can number.
inline void require_countable(size_t size, const char* what) {
  require(size < (size_t{1} << 31) - 1, [&] { return std::string(what) + " has too many elements"; });
}

// Require a number of labels that can be counted along with the bytes.
inline void require_num_labels(int32_t num_labels) {
  require(num_labels >= 0, "there are no negative numbers of labels");
  require_countable(256 + static_cast<size_t>(num_labels), "labels");
}

inline std::span<const uint8_t> bytes_of(const nb::bytes& text) {
  return {reinterpret_cast<const uint8_t*>(text.c_str()), text.size()};
}

template <class T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

template <class T>
auto array(std::vector<T>&& values) {
  const size_t size = values.size();
  return owned(std::move(values), {size});
}

template <std::ranges::contiguous_range Range>
auto array_of(const Range& values) {
  using T = std::ranges::range_value_t<Range>;
  return array(std::vector<T>(std::ranges::begin(values), std::ranges::end(values)));
}

// Return flags as an array of bool.
template <std::ranges::input_range Range>
nb::ndarray<nb::numpy, bool> flags(const Range& values) {
  const size_t size = std::ranges::size(values);
  auto* kept = new bool[size ? size : 1];
  nb::capsule owner(kept, [](void* data) noexcept { delete[] static_cast<bool*>(data); });
  size_t at = 0;
  for (auto value : values) kept[at++] = value != 0;
  return nb::ndarray<nb::numpy, bool>(kept, {size}, owner);
}

// Return records of int32 as rows `[n, sizeof(S) / 4]`.
template <std::ranges::contiguous_range Range>
nb::ndarray<nb::numpy, int32_t> records(const Range& values) {
  using S = std::ranges::range_value_t<Range>;
  static_assert(sizeof(S) % 4 == 0);
  const size_t size = std::ranges::size(values);
  const auto* data = reinterpret_cast<const int32_t*>(std::ranges::data(values));
  return owned(std::vector<int32_t>(data, data + size * (sizeof(S) / 4)), {size, sizeof(S) / 4});
}
// Do the same without a copy.
template <class S>
nb::ndarray<nb::numpy, int32_t> records(std::vector<S>&& values) {
  static_assert(sizeof(S) % 4 == 0);
  auto* kept = new std::vector<S>(std::move(values));
  nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<S>*>(vector); });
  return nb::ndarray<nb::numpy, int32_t>(reinterpret_cast<int32_t*>(kept->data()), {kept->size(), sizeof(S) / 4},
                                         owner);
}

template <std::ranges::contiguous_range Range>
auto grid(const Range& values, size_t rows, size_t columns) {
  using T = std::ranges::range_value_t<Range>;
  return owned(std::vector<T>(std::ranges::begin(values), std::ranges::end(values)), {rows, columns});
}

// Return a read-only view of data that `owner`, a Python object, keeps alive.
template <class T>
nb::ndarray<nb::numpy, const T> view(const T* data, std::initializer_list<size_t> shape, nb::handle owner) {
  return nb::ndarray<nb::numpy, const T>(data, shape, owner);
}

// Return a view of numbers `[n]`, or of records of int32 `[n, sizeof(S) / 4]`.
template <std::ranges::contiguous_range Range>
auto view_of(const Range& values, nb::handle owner) {
  using T = std::ranges::range_value_t<Range>;
  const size_t size = std::ranges::size(values);
  if constexpr (std::is_arithmetic_v<T>) {
    return view(std::ranges::data(values), {size}, owner);
  } else {
    return view(reinterpret_cast<const int32_t*>(std::ranges::data(values)), {size, sizeof(T) / sizeof(int32_t)},
                owner);
  }
}
inline auto view_of_flags(std::span<const uint8_t> flags, nb::handle owner) {
  return view(reinterpret_cast<const bool*>(flags.data()), {flags.size()}, owner);
}

template <class Class, class Member>
Class class_of(Member Class::*);

// Return a property that shows a member of a class, numbers or records, without a copy.
template <auto Member>
auto shown(nb::handle_t<decltype(class_of(Member))> self) {
  return view_of(nb::cast<const decltype(class_of(Member))&>(self).*Member, self);
}

// The memory of an array, as Python's buffer protocol shows it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  // Return whether an object is a contiguous array of T with `ndim` dimensions, writable if T is not const.
  template <class T>
  bool load(nb::handle source, int ndim) noexcept {
    release();
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (std::is_const_v<T> ? 0 : PyBUF_WRITABLE);
    if (PyObject_GetBuffer(source.ptr(), &buffer_, flags) != 0) {
      PyErr_Clear();
      return false;
    }
    return buffer_.ndim == ndim && buffer_.itemsize == sizeof(T) && is_format<std::remove_const_t<T>>(buffer_.format) &&
           reinterpret_cast<uintptr_t>(buffer_.buf) % alignof(T) == 0;
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(buffer_.buf);
  }
  size_t shape(int dimension) const { return static_cast<size_t>(buffer_.shape[dimension]); }

 private:
  void release() {
    if (buffer_.obj) PyBuffer_Release(&buffer_);
  }
  template <class T>
  static bool is_format(const char* format) {
    if (!format) return std::is_same_v<T, uint8_t>;
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (format[0] == 0 || format[1] != 0) return false;
    const std::string_view signed_letters = "bhilq", unsigned_letters = "BHILQ";
    if constexpr (std::is_same_v<T, bool>) return *format == '?';
    if constexpr (std::is_floating_point_v<T>) return *format == (sizeof(T) == sizeof(float) ? 'f' : 'd');
    return (std::is_signed_v<T> ? signed_letters : unsigned_letters).find(*format) != std::string_view::npos;
  }

  Py_buffer buffer_{};
};

// Return the name of a type in numpy, for signatures.
template <class T>
constexpr auto type_name() {
  using nb::detail::const_name;
  if constexpr (std::is_same_v<T, bool>) {
    return const_name("bool_");
  } else if constexpr (std::is_floating_point_v<T>) {
    return const_name("float") + const_name<8 * sizeof(T)>();
  } else {
    return const_name<std::is_signed_v<T>>("int", "uint") + const_name<8 * sizeof(T)>();
  }
}

}  // namespace bindings

namespace nanobind::detail {

// An argument that is an array of T.
template <class Value_, class T>
struct array_caster {
  NB_TYPE_CASTER(Value_, const_name("numpy.typing.NDArray[numpy.") + bindings::type_name<std::remove_const_t<T>>() +
                             const_name("]"))
  bindings::Buffer buffer;
};

template <class T>
struct type_caster<bindings::Values<T>> : array_caster<bindings::Values<T>, const T> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<const T>(source, 1)) return false;
    if constexpr (std::is_same_v<T, bool>) {
      // Another byte is not a value of bool.
      const std::span<const uint8_t> bytes(this->buffer.template data<const uint8_t>(), this->buffer.shape(0));
      if (std::ranges::any_of(bytes, [](uint8_t byte) { return byte > 1; })) return false;
    }
    this->value = bindings::Values<T>(this->buffer.template data<const T>(), this->buffer.shape(0));
    return true;
  }
};

template <class S>
struct type_caster<bindings::Records<S>> : array_caster<bindings::Records<S>, const int32_t> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<const int32_t>(source, 2) || this->buffer.shape(1) != sizeof(S) / 4) return false;
    this->value = bindings::Records<S>(this->buffer.template data<const S>(), this->buffer.shape(0));
    return true;
  }
};

template <class T>
struct type_caster<bindings::Grid<T>> : array_caster<bindings::Grid<T>, const T> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<const T>(source, 2)) return false;
    const size_t rows = this->buffer.shape(0), columns = this->buffer.shape(1);
    this->value = {{this->buffer.template data<const T>(), rows * columns}, rows, columns};
    return true;
  }
};

// An optional array. The caster of nanobind would give the buffer back before the call.
template <class Array>
struct optional_array_caster {
  NB_TYPE_CASTER(std::optional<Array>, optional_name(make_caster<Array>::Name))
  make_caster<Array> inner;
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    value.reset();
    if (source.is_none()) return true;
    if (!inner.from_python(source, flags, cleanup)) return false;
    value = inner.value;
    return true;
  }
};
template <class T>
struct type_caster<std::optional<bindings::Values<T>>> : optional_array_caster<bindings::Values<T>> {};
template <class S>
struct type_caster<std::optional<bindings::Records<S>>> : optional_array_caster<bindings::Records<S>> {};

template <class T>
struct type_caster<bindings::Output<T>> : array_caster<bindings::Output<T>, T> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<T>(source, 1)) return false;
    this->value = bindings::Output<T>(this->buffer.template data<T>(), this->buffer.shape(0));
    return true;
  }
};

template <class T>
struct type_caster<bindings::OutputGrid<T>> : array_caster<bindings::OutputGrid<T>, T> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<T>(source, 2)) return false;
    const size_t rows = this->buffer.shape(0), columns = this->buffer.shape(1);
    this->value = {{this->buffer.template data<T>(), rows * columns}, rows, columns};
    return true;
  }
};

}  // namespace nanobind::detail
