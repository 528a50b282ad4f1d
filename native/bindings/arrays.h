// Arrays across the boundary with Python: checked on the way in, handed over without a copy on the way out.
//
//     Values<T>   a one-dimensional array `[n]` of T, as a span
//     Rows<S>     an int32 array `[n, sizeof(S) / 4]` as a span of records S
//     Grid<T>     a two-dimensional array `[n, m]` of T
//     Output<T>   a one-dimensional array that is written to
//
// An argument of another type, number of dimensions or layout is a TypeError, and nothing is ever converted: a copy
// made on the way would hide a slow call, and writes to it would be lost. What values may be is for the binding to
// check, with `require`.
//
//     array(values), rows(records), grid(values, columns)   numpy arrays that own what they are given
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bindings {

namespace nb = nanobind;

template <class T>
struct Values : std::span<const T> {
  using std::span<const T>::span;
};

template <class S>
struct Rows : std::span<const S> {
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

// Throws ValueError. Where arrays are gone through, give a literal or a function that makes the message, which costs
// nothing as long as all is right.
inline void require(bool condition, const char* otherwise) {
  if (!condition) throw nb::value_error(otherwise);
}
inline void require(bool condition, const std::string& otherwise) { require(condition, otherwise.c_str()); }
template <std::invocable Message>
void require(bool condition, Message otherwise) {
  if (!condition) throw nb::value_error(otherwise().c_str());
}

// Requires all values to be at least `low` and below `end`.
template <std::ranges::input_range Numbers>
void require_within(const Numbers& numbers, int64_t low, int64_t end, const char* what) {
  for (int64_t number : numbers) {
    require(low <= number && number < end, [&] {
      return std::string(what) + " " + std::to_string(number) + " is not between " + std::to_string(low) + " and " +
             std::to_string(end - 1);
    });
  }
}
// The same for one value.
inline void require_one_within(int64_t number, int64_t low, int64_t end, const char* what) {
  require_within(std::array{number}, low, end, what);
}

// Requires offsets of rows: they begin with 0, ascend, and end with the number of elements.
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

// Arrays with more elements than this could not be numbered by int32.
inline void require_countable(size_t size, const char* what) {
  require(size < (size_t{1} << 31) - 1, [&] { return std::string(what) + " has too many elements"; });
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

// Flags as an array of bool.
template <std::ranges::input_range Range>
nb::ndarray<nb::numpy, bool> flags(const Range& values) {
  const size_t size = std::ranges::size(values);
  auto* kept = new bool[size ? size : 1];
  nb::capsule owner(kept, [](void* data) noexcept { delete[] static_cast<bool*>(data); });
  size_t at = 0;
  for (auto value : values) kept[at++] = value != 0;
  return nb::ndarray<nb::numpy, bool>(kept, {size}, owner);
}

// Records of int32 as rows `[n, sizeof(S) / 4]`.
template <std::ranges::contiguous_range Range>
nb::ndarray<nb::numpy, int32_t> rows(const Range& records) {
  using S = std::ranges::range_value_t<Range>;
  static_assert(sizeof(S) % 4 == 0);
  const size_t size = std::ranges::size(records);
  const auto* data = reinterpret_cast<const int32_t*>(std::ranges::data(records));
  return owned(std::vector<int32_t>(data, data + size * (sizeof(S) / 4)), {size, sizeof(S) / 4});
}

template <std::ranges::contiguous_range Range>
auto grid(const Range& values, size_t rows, size_t columns) {
  using T = std::ranges::range_value_t<Range>;
  return owned(std::vector<T>(std::ranges::begin(values), std::ranges::end(values)), {rows, columns});
}

// A read-only view of what `owner`, a Python object, keeps alive.
template <class T>
nb::ndarray<nb::numpy, const T> view(const T* data, std::initializer_list<size_t> shape, nb::handle owner) {
  return nb::ndarray<nb::numpy, const T>(data, shape, owner);
}

}  // namespace bindings

namespace nanobind::detail {

// Casters like those of nanobind's own arrays, with conversions switched off.
template <class Value_, class Array>
struct strict_array_caster {
  NB_TYPE_CASTER(Value_, make_caster<Array>::Name)
  make_caster<Array> array;

  bool load(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    return array.from_python(source, flags & ~static_cast<uint32_t>(cast_flags::convert), cleanup);
  }
};

template <class T>
struct type_caster<bindings::Values<T>>
    : strict_array_caster<bindings::Values<T>, ndarray<const T, ndim<1>, c_contig, device::cpu>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!this->load(source, flags, cleanup)) return false;
    this->value = bindings::Values<T>(this->array.value.data(), this->array.value.size());
    return true;
  }
};

template <class S>
struct type_caster<bindings::Rows<S>>
    : strict_array_caster<bindings::Rows<S>, ndarray<const int32_t, shape<-1, sizeof(S) / 4>, c_contig, device::cpu>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!this->load(source, flags, cleanup)) return false;
    this->value = bindings::Rows<S>(reinterpret_cast<const S*>(this->array.value.data()), this->array.value.shape(0));
    return true;
  }
};

template <class T>
struct type_caster<bindings::Grid<T>>
    : strict_array_caster<bindings::Grid<T>, ndarray<const T, ndim<2>, c_contig, device::cpu>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!this->load(source, flags, cleanup)) return false;
    const auto& array = this->array.value;
    this->value = {{array.data(), array.size()}, array.shape(0), array.shape(1)};
    return true;
  }
};

template <class T>
struct type_caster<bindings::Output<T>>
    : strict_array_caster<bindings::Output<T>, ndarray<T, ndim<1>, c_contig, device::cpu>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!this->load(source, flags, cleanup)) return false;
    this->value = bindings::Output<T>(this->array.value.data(), this->array.value.size());
    return true;
  }
};

}  // namespace nanobind::detail
