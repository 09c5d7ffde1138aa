/* Kernels whose counts are known; test_counters.py has the numbers. Each is started once, by the function below it. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

struct Arrays {
  float *a, *b;
  Arrays(size_t a_bytes, size_t b_bytes)
  {
    cudaMalloc((void **)&a, a_bytes);
    cudaMalloc((void **)&b, b_bytes);
    cudaMemset(a, 0, a_bytes);
  }
  int end()
  {
    cudaFree(a);
    cudaFree(b);
    return (int)cudaGetLastError();
  }
};

__global__ void copy(const float *a, float *b)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}
extern "C" int run_copy(void)
{
  Arrays m(4096, 4096);
  copy<<<4, 256>>>(m.a, m.b);
  return m.end();
}

/* Aligned in memory, but each warp begins one element behind a sector's start: five sectors for four. */
__global__ void shifted(const float *a, float *b)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i + 1];
}
extern "C" int run_shifted(void)
{
  Arrays m(4352, 4096);
  shifted<<<4, 256>>>(m.a, m.b);
  return m.end();
}

__global__ void strided(const float *a, float *b)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[8 * i];
}
extern "C" int run_strided(void)
{
  Arrays m(8 * 4096, 4096);
  strided<<<4, 256>>>(m.a, m.b);
  return m.end();
}

__global__ void broadcast(const float *a, float *b)
{
  __shared__ float one[32];
  one[threadIdx.x] = a[0];
  __syncthreads();
  b[threadIdx.x] = one[5];
}
extern "C" int run_broadcast(void)
{
  Arrays m(256, 256);
  broadcast<<<1, 32>>>(m.a, m.b);
  return m.end();
}

__global__ void wide4(const float4 *a, float4 *b)
{
  __shared__ float4 kept[32];
  kept[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = kept[31 - threadIdx.x];
}

__global__ void wide2(const float2 *a, float2 *b)
{
  __shared__ float2 kept[32];
  kept[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = kept[threadIdx.x ^ 1];
}

/* Each quarter of the warp wants 16 bytes, all of them the same: one wavefront, not four. */
__global__ void wide_broadcast(const float4 *a, float4 *b)
{
  __shared__ float4 kept[32];
  kept[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = kept[7];
}

extern "C" int run_wide(void)
{
  Arrays m(512, 512);
  wide4<<<1, 32>>>((const float4 *)m.a, (float4 *)m.b);
  wide2<<<1, 32>>>((const float2 *)m.a, (float2 *)m.b);
  wide_broadcast<<<1, 32>>>((const float4 *)m.a, (float4 *)m.b);
  return m.end();
}

template <int PADDING> __device__ __forceinline__ void turn(const float *a, float *b, float (*tile)[32 + PADDING])
{
  const int x = 32 * blockIdx.x, y = 32 * blockIdx.y;
  for (int j = threadIdx.y; j < 32; j += 8)
    tile[j][threadIdx.x] = a[(y + j) * 64 + x + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8)
    b[(x + j) * 64 + y + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void unpadded(const float *a, float *b)
{
  __shared__ float tile[32][32];
  turn<0>(a, b, tile);
}
extern "C" int run_unpadded(void)
{
  Arrays m(16384, 16384);
  unpadded<<<dim3(2, 2), dim3(32, 8)>>>(m.a, m.b);
  return m.end();
}

__global__ void padded(const float *a, float *b)
{
  __shared__ float tile[32][33];
  turn<1>(a, b, tile);
}
extern "C" int run_padded(void)
{
  Arrays m(16384, 16384);
  padded<<<dim3(2, 2), dim3(32, 8)>>>(m.a, m.b);
  return m.end();
}

/* Neighbours in shared memory that one thread loads are one load of 16 bytes, as nvcc makes them. */
__global__ void together(const float *a, float *b)
{
  __shared__ __align__(16) float kept[128];
#pragma unroll
  for (int k = 0; k < 4; k++)
    kept[threadIdx.x + 32 * k] = a[threadIdx.x + 32 * k];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    sum += kept[4 * threadIdx.x + k];
  b[threadIdx.x] = sum;
}
extern "C" int run_together(void)
{
  Arrays m(512, 256);
  together<<<1, 32>>>(m.a, m.b);
  return m.end();
}

/* Lanes leave an inner loop after 3 and 5 turns, and meet behind it: the next turn of the outer loop is together. */
__global__ void uneven(const float *a, float *b)
{
  float sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3 + 2 * (int)(threadIdx.x % 2); j++)
      sum += a[32 * (5 * i + j) + threadIdx.x];
  b[threadIdx.x] = sum;
}
extern "C" int run_uneven(void)
{
  Arrays m(2048, 256);
  uneven<<<1, 32>>>(m.a, m.b);
  return m.end();
}

/* Nine lanes copy for the other ones, and 23 sit out; both branches meet at the store. */
__global__ void few(const float *a, float *b)
{
  float value = 1;
  if (threadIdx.x < 9)
    value = a[threadIdx.x];
  else if (threadIdx.x < 12)
    value = a[threadIdx.x + 20];
  b[threadIdx.x] = value;
}
extern "C" int run_few(void)
{
  Arrays m(256, 256);
  few<<<1, 48>>>(m.a, m.b);
  return m.end();
}

__device__ __noinline__ float loaded(const float *a, int k) { return a[k]; }

/* Both branches call one function: lanes of different callers are different requests. */
__global__ void called(const float *a, float *b)
{
  float value = loaded(a, threadIdx.x);
  if (threadIdx.x < 16)
    value += loaded(a, threadIdx.x + 32);
  b[threadIdx.x] = value;
}
extern "C" int run_called(void)
{
  Arrays m(256, 256);
  called<<<1, 32>>>(m.a, m.b);
  return m.end();
}

__global__ void copied(const float *a, float *b)
{
  __shared__ float kept[64];
  __pipeline_memcpy_async(&kept[threadIdx.x], &a[threadIdx.x], 4, threadIdx.x < 24 ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  b[threadIdx.x] = kept[threadIdx.x];
}
extern "C" int run_copied(void)
{
  Arrays m(256, 256);
  copied<<<1, 64>>>(m.a, m.b);
  return m.end();
}

__global__ void updates(float *a, float *b)
{
  __shared__ float sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1.0f);
  atomicAdd(&a[threadIdx.x % 2], 1.0f);
  __syncthreads();
  if (threadIdx.x == 0)
    b[0] = sum;
}
extern "C" int run_updates(void)
{
  Arrays m(256, 256);
  updates<<<1, 32>>>(m.a, m.b);
  return m.end();
}

/* Each block reads a row that is its own, and one that is all blocks'. */
__global__ void rows(const float *a, float *b)
{
  const int own = 64 * (1 + blockIdx.x) + threadIdx.x;
  b[own - 64] = a[own] + a[threadIdx.x] * 2.0f;
}
extern "C" int run_rows(void)
{
  Arrays m(4 * 64 * 201, 4 * 64 * 200);
  rows<<<200, 64>>>(m.a, m.b);
  return m.end();
}

/* A stencil: neighbours share the cells between them. */
__global__ void stencil(const float *a, float *b)
{
  const int x = 32 * blockIdx.x + threadIdx.x, y = 8 * blockIdx.y + threadIdx.y;
  if (x > 0 && y > 0 && x < 639 && y < 159)
    b[640 * y + x] = a[640 * y + x - 1] + a[640 * y + x + 1] + a[640 * (y - 1) + x] + a[640 * (y + 1) + x];
}
extern "C" int run_stencil(void)
{
  Arrays m(4 * 640 * 160, 4 * 640 * 160);
  stencil<<<dim3(20, 20), dim3(32, 8)>>>(m.a, m.b);
  return m.end();
}

/* Started for one row after the other: as many times as there are rows. */
__global__ void steps(const float *a, float *b)
{
  b[threadIdx.x] = a[threadIdx.x];
}
extern "C" int run_steps(void)
{
  Arrays m(4096, 4096);
  for (int row = 0; row < 100; row++)
    steps<<<1, 32>>>(m.a + row, m.b + row);
  return m.end();
}
