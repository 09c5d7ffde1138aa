// A CPU's stand-in for CUDA's header of the same name: what generated programs use of it, and no more.
//
// Device memory is host memory that the check knows; a block's threads are fibers. See ../shim.h for the parts.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define POLYC_SHIM_JOIN2(a, b) a##b
#define POLYC_SHIM_JOIN(a, b) POLYC_SHIM_JOIN2(a, b)
#define POLYC_SHIM_SHARED static __attribute__((section("polyc_shared")))

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#ifdef POLYC_SHIM_COUNT
extern "C" void *polyc_shim_aligned(const void *address);
#define __builtin_assume_aligned(address, bytes) polyc_shim_aligned(address)
#endif
#define __constant__ __attribute__((section("polyc_constant")))
// A gap beside each variable: what runs over its end meets no other variable.
#define __shared__                                                                                    \
    POLYC_SHIM_SHARED __attribute__((used)) char POLYC_SHIM_JOIN(polyc_shim_gap_, __COUNTER__)[256]; \
    POLYC_SHIM_SHARED
#define __syncthreads() polyc_shim_barrier(__COUNTER__, __LINE__)
#define __syncwarp(...) polyc_shim_warp_barrier(__COUNTER__, __LINE__, ##__VA_ARGS__)

#pragma GCC visibility push(hidden)

struct int2 { int x, y; } __attribute__((aligned(8)));
struct int3 { int x, y, z; };
struct int4 { int x, y, z, w; } __attribute__((aligned(16)));
struct uint2 { unsigned x, y; } __attribute__((aligned(8)));
struct uint3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; } __attribute__((aligned(16)));
struct float2 { float x, y; } __attribute__((aligned(8)));
struct float3 { float x, y, z; };
struct float4 { float x, y, z, w; } __attribute__((aligned(16)));
struct double2 { double x, y; } __attribute__((aligned(16)));
struct double3 { double x, y, z; };
struct double4 { double x, y, z, w; } __attribute__((aligned(16)));
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }
static inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// Constant for the compiler, as no thread sees its own change: it neither reads them twice nor checks the reads.
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchFailure = 719,
};
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor, multiProcessorCount;
};

extern "C" {
void polyc_shim_barrier(int site, int line);
void polyc_shim_warp_barrier(int site, int line, unsigned mask = 0xffffffffu);
void *polyc_shim_dynamic_shared(void);
void polyc_shim_launch(const char *kernel, dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *data);
unsigned polyc_shim_shuffle(unsigned value, int lane, int line);
void polyc_shim_mma_tf32(float *d, const unsigned *a, const unsigned *b, const float *c, int line);
void polyc_shim_mma_half(float *d, const unsigned *a, const unsigned *b, const float *c, int depth, int line);
void polyc_shim_atomic(const void *address, size_t size_bytes);
void polyc_shim_copy(void *to, const void *from, size_t size_bytes, bool zero);
cudaError_t polyc_shim_malloc(void **address, size_t size_bytes);

cudaError_t cudaFree(void *address);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemset(void *to, int value, size_t size_bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size_bytes, cudaStream_t stream = 0);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
}

template <class T> static inline cudaError_t cudaMalloc(T **address, size_t size_bytes)
{
    return polyc_shim_malloc((void **)address, size_bytes);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **address, size_t size_bytes, cudaStream_t)
{
    return polyc_shim_malloc((void **)address, size_bytes);
}
static inline cudaError_t cudaFreeAsync(void *address, cudaStream_t) { return cudaFree(address); }
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t size_bytes, size_t offset_bytes = 0,
                                             enum cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    if (offset_bytes > sizeof symbol || size_bytes > sizeof symbol - offset_bytes)
        return cudaErrorInvalidValue;
    memcpy((char *)&symbol + offset_bytes, from, size_bytes);
    return cudaSuccess;
}

namespace polyc_shim {
#define POLYC_SHIM_UNCHECKED __attribute__((no_sanitize("thread", "alignment", "bounds")))
struct Config {
    dim3 grid, block;
    size_t shared_bytes;
    Config(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t = 0)
        : grid(grid), block(block), shared_bytes(shared_bytes)
    {
    }
};
template <class T> struct Same { typedef T Type; };
template <class Body> POLYC_SHIM_UNCHECKED static void call(void *body) { (*(Body *)body)(); }
// The arguments are converted once, on the host; each thread gets copies.
template <class... P>
POLYC_SHIM_UNCHECKED static void launch(const char *name, void (*kernel)(P...), const Config &config,
                                        typename Same<P>::Type... arguments)
{
    auto body = [&]() POLYC_SHIM_UNCHECKED { kernel(arguments...); };
    polyc_shim_launch(name, config.grid, config.block, config.shared_bytes, call<decltype(body)>, &body);
}
}  // namespace polyc_shim

static inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// All 32 threads of a warp come here together.
__forceinline__ static unsigned __shfl_sync(unsigned, unsigned value, int lane, int line = __builtin_LINE())
{
    return polyc_shim_shuffle(value, lane, line);
}

// Instructions of PTX: `asm("cvt.rna.tf32.f32 %0, %1;" : ...)` is rewritten as a call (launches.py).
namespace polyc_shim {
// To ten bits of mantissa, ties away from zero.
static inline void ptx_cvt_rna_tf32_f32(unsigned &rounded, float value)
{
    rounded = __float_as_uint(value);
    if ((rounded & 0x7f800000u) != 0x7f800000u)
        rounded = (rounded + 0x1000u) & 0xffffe000u;
}
__forceinline__ static void ptx_mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32(
    float &d0, float &d1, float &d2, float &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
    unsigned b1, float c0, float c1, float c2, float c3, int line = __builtin_LINE())
{
    const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
    const float c[4] = {c0, c1, c2, c3};
    float d[4];
    polyc_shim_mma_tf32(d, a, b, c, line);
    d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}
__forceinline__ static void ptx_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(
    float &d0, float &d1, float &d2, float &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
    unsigned b1, float c0, float c1, float c2, float c3, int line = __builtin_LINE())
{
    const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
    const float c[4] = {c0, c1, c2, c3};
    float d[4];
    polyc_shim_mma_half(d, a, b, c, 16, line);
    d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}
__forceinline__ static void ptx_mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32(
    float &d0, float &d1, float &d2, float &d3, unsigned a0, unsigned a1, unsigned b0, float c0, float c1, float c2,
    float c3, int line = __builtin_LINE())
{
    const unsigned a[4] = {a0, a1, 0, 0}, b[2] = {b0, 0};
    const float c[4] = {c0, c1, c2, c3};
    float d[4];
    polyc_shim_mma_half(d, a, b, c, 8, line);
    d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}
}  // namespace polyc_shim

// Threads are fibers of one thread: a plain update is atomic. The check is inline, so that it knows the place.
#define POLYC_SHIM_ATOMIC_OF(NAME, T, PARAMETERS, ARGUMENTS, UPDATE)                                     \
    POLYC_SHIM_UNCHECKED __attribute__((noinline)) static T polyc_shim_##NAME PARAMETERS                 \
    {                                                                                                    \
        T old = *address;                                                                                \
        *address = UPDATE;                                                                               \
        return old;                                                                                      \
    }                                                                                                    \
    __forceinline__ static T NAME PARAMETERS                                                             \
    {                                                                                                    \
        polyc_shim_atomic(address, sizeof(T));                                                           \
        return polyc_shim_##NAME ARGUMENTS;                                                              \
    }
#define POLYC_SHIM_ATOMIC(NAME, T, UPDATE) \
    POLYC_SHIM_ATOMIC_OF(NAME, T, (T *address, T value), (address, value), UPDATE)
#define POLYC_SHIM_ATOMICS(T)                                     \
    POLYC_SHIM_ATOMIC(atomicAdd, T, old + value)                  \
    POLYC_SHIM_ATOMIC(atomicExch, T, value)                       \
    POLYC_SHIM_ATOMIC(atomicMin, T, value < old ? value : old)    \
    POLYC_SHIM_ATOMIC(atomicMax, T, value > old ? value : old)
POLYC_SHIM_ATOMICS(int)
POLYC_SHIM_ATOMICS(unsigned)
POLYC_SHIM_ATOMICS(unsigned long long)
POLYC_SHIM_ATOMIC(atomicAdd, float, old + value)
POLYC_SHIM_ATOMIC(atomicAdd, double, old + value)
POLYC_SHIM_ATOMIC(atomicExch, float, value)
POLYC_SHIM_ATOMIC(atomicSub, int, old - value)
POLYC_SHIM_ATOMIC(atomicSub, unsigned, old - value)
#define POLYC_SHIM_CAS(T)                                                                                          \
    POLYC_SHIM_ATOMIC_OF(atomicCAS, T, (T *address, T expected, T value), (address, expected, value), \
                         old == expected ? value : old)
POLYC_SHIM_CAS(int)
POLYC_SHIM_CAS(unsigned)
POLYC_SHIM_CAS(unsigned long long)

template <class T> static inline T __ldg(const T *address) { return *address; }
static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}

#define POLYC_SHIM_MINMAX(A, B, T)                                       \
    static inline T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
    static inline T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
POLYC_SHIM_MINMAX(int, int, int)
POLYC_SHIM_MINMAX(unsigned, unsigned, unsigned)
POLYC_SHIM_MINMAX(int, unsigned, unsigned)
POLYC_SHIM_MINMAX(unsigned, int, unsigned)
POLYC_SHIM_MINMAX(long, long, long)
POLYC_SHIM_MINMAX(unsigned long, unsigned long, unsigned long)
POLYC_SHIM_MINMAX(long, unsigned long, unsigned long)
POLYC_SHIM_MINMAX(unsigned long, long, unsigned long)
POLYC_SHIM_MINMAX(long long, long long, long long)
POLYC_SHIM_MINMAX(unsigned long long, unsigned long long, unsigned long long)
POLYC_SHIM_MINMAX(long long, unsigned long long, unsigned long long)
POLYC_SHIM_MINMAX(unsigned long long, long long, unsigned long long)
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

#pragma GCC visibility pop
