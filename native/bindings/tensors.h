// Arrays of more dimensions, and rows that are not adjacent, in addition to the tables of `bindings/arrays.h`.
//
//     Tensor<T, N>       a contiguous array of N dimensions; writable if T is not const
//     StridedRows<Size>  rows of a two-dimensional array of any type of `Size` bytes, writable as bits
//     HeldArray<T>       an array that an object keeps alive
#pragma once

#include <array>

#include "bindings/arrays.h"

namespace bindings {

template <class T, int N>
struct Tensor {
  T* data = nullptr;
  std::array<size_t, N> shape{};
};

template <class T>
struct StridedRows {
  T* data = nullptr;
  size_t rows = 0, columns = 0;
  size_t stride = 0;  // between rows, in elements
};

// Keeps the memory of a one-dimensional array, which others may continue to write to.
template <class T>
class HeldArray {
 public:
  // Throw TypeError.
  HeldArray(nb::handle source, const char* otherwise) {
    if (!buffer_.load<const T>(source, 1)) throw nb::type_error(otherwise);
  }
  std::span<const T> values() const { return {buffer_.data<const T>(), buffer_.shape(0)}; }

 private:
  Buffer buffer_;
};

// A buffer with strides.
class StridedBuffer {
 public:
  StridedBuffer() = default;
  StridedBuffer(const StridedBuffer&) = delete;
  StridedBuffer& operator=(const StridedBuffer&) = delete;
  ~StridedBuffer() { release(); }

  // Return whether an object is a writable two-dimensional array of elements of some size, whose rows are contiguous
  // and do not overlap.
  bool load(nb::handle source, size_t itemsize) noexcept {
    release();
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_STRIDED | PyBUF_WRITABLE) != 0) {
      PyErr_Clear();
      return false;
    }
    const auto size = static_cast<Py_ssize_t>(itemsize);
    if (buffer_.ndim != 2 || buffer_.itemsize != size || reinterpret_cast<uintptr_t>(buffer_.buf) % itemsize) {
      return false;
    }
    const bool is_row_contiguous = buffer_.strides[1] == size || buffer_.shape[1] <= 1;
    const bool is_apart = buffer_.strides[0] >= size * buffer_.shape[1] && buffer_.strides[0] % size == 0;
    return is_row_contiguous && (is_apart || buffer_.shape[0] <= 1);
  }
  template <class T>
  StridedRows<T> rows() const {
    const bool has_several = buffer_.shape[0] > 1;
    return {static_cast<T*>(buffer_.buf), static_cast<size_t>(buffer_.shape[0]), static_cast<size_t>(buffer_.shape[1]),
            has_several ? static_cast<size_t>(buffer_.strides[0]) / sizeof(T) : 0};
  }

 private:
  void release() {
    if (buffer_.obj) PyBuffer_Release(&buffer_);
  }

  Py_buffer buffer_{};
};

}  // namespace bindings

namespace nanobind::detail {

template <class T, int N>
struct type_caster<bindings::Tensor<T, N>> : array_caster<bindings::Tensor<T, N>, T> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!this->buffer.template load<T>(source, N)) return false;
    this->value.data = this->buffer.template data<T>();
    for (int dimension = 0; dimension < N; ++dimension) this->value.shape[dimension] = this->buffer.shape(dimension);
    return true;
  }
};

template <class T>
struct type_caster<bindings::StridedRows<T>> {
  NB_TYPE_CASTER(bindings::StridedRows<T>,
                 const_name("numpy.typing.NDArray[numpy.") + bindings::type_name<T>() + const_name("]"))
  bindings::StridedBuffer buffer;

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!buffer.load(source, sizeof(T))) return false;
    value = buffer.template rows<T>();
    return true;
  }
};

}  // namespace nanobind::detail
