// MULTIVERSIONED: a function that is compiled twice, the second time for processors with vectors of 64 bytes.
//
// Wheels are built for any x86-64 processor, whose vectors have 16 bytes. Put in front of a function with plain loops,
// this makes the compiler emit another version for processors with AVX-512, and the loader choose between the two
// (GCC's `target_clones`). Where this is not available, on other processors, C libraries or compilers, it expands to
// nothing, and there is one version, from the same source. Inlined callees are compiled along with the function.
//
// Meant for the few functions that write whole arrays: filling 32 MiB takes a quarter less time. (A version for 32
// bytes is left out: there GCC passes vectors of eight logits through the stack.)
#pragma once

#include <cstddef>  // defines the macros of the C library

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MULTIVERSIONED __attribute__((target_clones("default", "arch=x86-64-v4")))
#else
#define MULTIVERSIONED
#endif
