// MULTIVERSIONED: a function that is compiled twice, the second time for processors with vectors of 64 bytes.
//
// Wheels are for any x86-64 processor, whose vectors have 16 bytes. Written in front of a function with plain loops,
// this lets the compiler make another version for those with AVX-512, and the loader choose between the two (GCC's
// `target_clones`). Where that is not to be had, on other processors, C libraries or compilers, it is nothing, and
// there is one version, from the same source. What is called inside is compiled along where it is inlined.
//
// For few functions, those that write whole arrays: filling 32 MiB takes a quarter less time. (A version for 32 bytes
// is left out: GCC's vectors of eight logits go through the stack there.)
#pragma once

#include <cstddef>  // says which C library there is

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MULTIVERSIONED __attribute__((target_clones("default", "arch=x86-64-v4")))
#else
#define MULTIVERSIONED
#endif
