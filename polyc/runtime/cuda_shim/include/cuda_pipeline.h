// A CPU's stand-in for CUDA's header of the same name: copies are done at once, so that waiting is nothing.
#pragma once
#include <cuda_runtime.h>

template <typename T>
__forceinline__ static void __pipeline_memcpy_async(T *to, const T *from, size_t size_bytes, size_t zero_bytes = 0) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "cp.async copies 4, 8 or 16 bytes");
#ifdef POLYC_SHIM_COUNT
    polyc_shim_copy(to, from, sizeof(T), zero_bytes == size_bytes);
#else
    *to = zero_bytes == size_bytes ? T() : *from;
#endif
}
static inline void __pipeline_commit() {}
static inline void __pipeline_wait_prior(size_t) {}
