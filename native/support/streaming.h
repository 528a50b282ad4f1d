// Streaming: fills memory past the caches, for arrays so large that they would not stay in them anyway.
//
// A store to memory that is in no cache first reads it. Streaming stores of whole lines do not: measured with 134 MB,
// they take 5 ms instead of 16 (a Xeon with DDR5), while what fits into the caches takes longer than with plain stores.
// On processors without SSE2 these are plain stores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace support {

// Streaming pays off from this many bytes in total on; the caches of most processors are smaller.
constexpr size_t kStreamingBytes = size_t{64} << 20;

}  // namespace support

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

namespace support {

template <class T>
void fill_streaming(std::span<T> values, T value) {
  constexpr size_t kLine = 64, kInLine = kLine / sizeof(T);
  const size_t past = reinterpret_cast<uintptr_t>(values.data()) % kLine / sizeof(T);
  const size_t head = std::min(past ? kInLine - past : 0, values.size());
  T* const begin = values.data() + head;
  T* const end = begin + (values.size() - head) / kInLine * kInLine;
  std::fill(values.data(), begin, value);
  alignas(16) T pattern[16 / sizeof(T)];
  std::ranges::fill(pattern, value);
  const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(pattern));
  for (T* at = begin; at != end; at += 16 / sizeof(T)) _mm_stream_si128(reinterpret_cast<__m128i*>(at), part);
  std::fill(end, values.data() + values.size(), value);
}
// Make streamed stores visible before all later stores.
inline void finish_streaming() { _mm_sfence(); }

}  // namespace support
#else
namespace support {

template <class T>
void fill_streaming(std::span<T> values, T value) {
  std::ranges::fill(values, value);
}
inline void finish_streaming() {}

}  // namespace support
#endif
