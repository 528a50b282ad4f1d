#include "decoding/weights.h"

#include <cmath>

namespace decoding {

float from_float16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -value : value;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(value);
  if (value != value) return sign | 0x7E00;
  if (size >= 65520.0f) return sign | 0x7C00;
  if (size < 0x1p-14f) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(size * 0x1p24f)));
  const uint32_t rounded = (bits & 0x7FFFFFFF) + 0xFFF + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

}  // namespace decoding
