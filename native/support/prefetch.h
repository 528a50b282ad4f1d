// prefetch: begins to fetch what will be read soon, so that other work continues meanwhile.
#pragma once

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace support {

inline void prefetch([[maybe_unused]] const void* data) {
#if defined(__GNUC__)
  __builtin_prefetch(data);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(data), _MM_HINT_T0);
#endif
}

}  // namespace support
