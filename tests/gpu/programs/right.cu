// Kernels with nothing wrong: the shim computes what they say, and finds no fault.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                     \
  do {                                                                  \
    cudaError_t error = (call);                                         \
    if (error != cudaSuccess) {                                         \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));               \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

template <class T> static T *to_device(const T *from, long elements)
{
  T *to;
  CHECK(cudaMalloc(&to, elements * sizeof(T)));
  CHECK(cudaMemcpy(to, from, elements * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

template <class T> static void from_device(T *to, T *from, long elements)
{
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(to, from, elements * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
}

// C = A transposed, through a tile.
__global__ void __launch_bounds__(256) transpose_1(int n, const float *__restrict__ A, float *__restrict__ C)
{
  __shared__ float A_tile[32][33];
  for (long it = 32L * blockIdx.y; it < n; it += 32L * gridDim.y)
    for (long jt = 32L * blockIdx.x; jt < n; jt += 32L * gridDim.x) {
      for (int i = threadIdx.y; i < min(32L, n - it); i += 8)
        if (jt + threadIdx.x < n)
          A_tile[i][threadIdx.x] = A[(it + i) * n + jt + threadIdx.x];
      __syncthreads();
      for (int j = threadIdx.y; j < min(32L, n - jt); j += 8)
        if (it + threadIdx.x < n)
          C[(jt + j) * n + it + threadIdx.x] = A_tile[threadIdx.x][j];
      __syncthreads();
    }
}

extern "C" int polyc_transpose_device(int n, float *A, float *C, cudaStream_t stream)
{
  transpose_1<<<dim3(min(max((n + 31) / 32, 1), 3), 2), dim3(32, 8), 0, stream>>>(n, A, C);
  return (int)cudaGetLastError();
}

extern "C" void transpose(int n, float *A, float *C)
{
  float *dA = to_device(A, (long)n * n), *dC = to_device(C, (long)n * n);
  CHECK((cudaError_t)polyc_transpose_device(n, dA, dC, 0));
  CHECK(cudaFree(dA));
  from_device(C, dC, (long)n * n);
}

// y = 2 x + y, with a grid that is smaller than the array.
__global__ void axpy_1(int n, const double *x, double *y)
{
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    y[i] = fma(2.0, __ldg(&x[i]), y[i]);
}

extern "C" void axpy(int n, double *x, double *y)
{
  double *dx = to_device(x, n), *dy = to_device(y, n);
  axpy_1<<<7, 64>>>(n, dx, dy);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(dx));
  from_device(y, dy, n);
}

// Two kernels for a step, in a loop of the host.
__global__ void jacobi_1(int n, const double (*__restrict__ A)[100], double (*__restrict__ B)[100])
{
  int i = 1 + blockIdx.y * blockDim.y + threadIdx.y, j = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1 && j < n - 1)
    B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
}

__global__ void jacobi_2(int n, double (*__restrict__ A)[100], const double (*__restrict__ B)[100])
{
  int i = 1 + blockIdx.y * blockDim.y + threadIdx.y, j = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1 && j < n - 1)
    A[i][j] = B[i][j];
}

extern "C" void jacobi(int steps, int n, double (*A)[100])
{
  double(*dA)[100] = to_device(A, n), (*dB)[100] = to_device(A, n);
  dim3 grid((n + 13) / 16, (n + 13) / 16), block(16, 16);
  for (int t = 0; t < steps; t++) {
    jacobi_1<<<grid, block>>>(n, dA, dB);
    jacobi_2<<<grid, block>>>(n, dA, dB);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaFree(dB));
  from_device(A, dA, n);
}

// Atomics of all blocks on one cell, and of a block on shared memory.
__global__ void sum_1(int n, const float *x, double *all)
{
  __shared__ double mine;
  if (threadIdx.x == 0)
    mine = 0.0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine, (double)x[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(all, mine);
}

extern "C" void sum(int n, float *x, double *all)
{
  float *dx = to_device(x, n);
  double *dall = to_device(all, 1);
  sum_1<<<5, 96>>>(n, dx, dall);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(dx));
  from_device(all, dall, 1);
}

// Neighbouring bytes of different threads and blocks; an array of its own in each thread.
__global__ void bytes_1(int n, signed char *x)
{
  signed char own[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; k++)
    own[(k * 5 + i) % 16] = (signed char)k;
  if (i < n)
    x[i] += own[i % 16];
}

extern "C" void bytes(int n, signed char *x)
{
  signed char *dx = to_device(x, n);
  bytes_1<<<(n + 31) / 32, 32>>>(n, dx);
  CHECK(cudaGetLastError());
  from_device(x, dx, n);
}

// A sum in each warp: its threads wait for each other and for no others. In memory of a size that the launch gives.
__global__ void warps_1(float *x)
{
  extern __shared__ float part[];
  int t = threadIdx.x, lane = t % warpSize;
  part[t] = x[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    float other = lane < d ? part[t + d] : 0.0f;
    __syncwarp();
    if (lane < d)
      part[t] += other;
    __syncwarp();
  }
  x[t] = part[t - lane];
}

extern "C" void warps(float *x)
{
  float *dx = to_device(x, 128);
  warps_1<<<1, 128, 128 * sizeof(float)>>>(dx);
  CHECK(cudaGetLastError());
  from_device(x, dx, 128);
}

// Vectors, a table in constant memory, and a template.
__constant__ float weights[4];

template <int kScale, class T> __global__ void vectors_1(int n, T *x)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 v = x[i];
    x[i] = make_float4(v.x * weights[0], v.y * weights[1], v.z * weights[2], kScale * v.w * weights[3]);
  }
}

extern "C" void vectors(int n, float *x)
{
  float host[4] = {1, 2, 3, 4};
  float4 *dx = (float4 *)to_device(x, 4L * n);
  CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
  vectors_1<(2 > 1) + 1, float4><<<dim3((n + 31) / 32), 32>>>(n, dx);
  CHECK(cudaGetLastError());
  from_device(x, (float *)dx, 4L * n);
}

// A product of tensor cores by one warp, and a shuffle. Lane 4 * g + t has the elements that the PTX ISA names.
__global__ void tensor_1(const float *a, const float *b, float *c, unsigned *turned)
{
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned a4[4], b2[2];
  for (int k = 0; k < 4; k++) {
    float value = a[(g + k % 2 * 8) * 8 + t + k / 2 * 4];
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a4[k]) : "f"(value));
  }
  for (int k = 0; k < 2; k++)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b2[k]) : "f"(b[(t + 4 * k) * 8 + g]));
  float *d = c + g * 8 + 2 * t;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{ %0, %1, %2, %3 }, { %4, %5, %6, %7 }, { %8, %9 }, { %0, %1, %2, %3 };"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[64]), "+f"(d[65])
               : "r"(a4[0]), "r"(a4[1]), "r"(a4[2]), "r"(a4[3]), "r"(b2[0]), "r"(b2[1]));
  turned[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x, 31 - (int)threadIdx.x);
}

// Halves, in one instruction and in two: c += a b, with c[16][8], a[16][16], b[16][8].
__global__ void halves_1(const unsigned short *a, const unsigned short *b, float *c, float *again)
{
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned a4[4], b2[2];
  for (int k = 0; k < 4; k++) {
    const unsigned short *two = a + (g + k % 2 * 8) * 16 + 2 * t + k / 2 * 8;
    a4[k] = two[0] | (unsigned)two[1] << 16;
  }
  for (int k = 0; k < 2; k++)
    b2[k] = b[(2 * t + 8 * k) * 8 + g] | (unsigned)b[(2 * t + 1 + 8 * k) * 8 + g] << 16;
  float *d = c + g * 8 + 2 * t, *e = again + g * 8 + 2 * t;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{ %0, %1, %2, %3 }, { %4, %5, %6, %7 }, { %8, %9 }, { %0, %1, %2, %3 };"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[64]), "+f"(d[65])
               : "r"(a4[0]), "r"(a4[1]), "r"(a4[2]), "r"(a4[3]), "r"(b2[0]), "r"(b2[1]));
  for (int k = 0; k < 2; k++)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{ %0, %1, %2, %3 }, { %4, %5 }, { %6 }, { %0, %1, %2, %3 };"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[64]), "+f"(e[65])
                 : "r"(a4[2 * k]), "r"(a4[2 * k + 1]), "r"(b2[k]));
}

extern "C" void halves(unsigned short *a, unsigned short *b, float *c, float *again)
{
  unsigned short *da = to_device(a, 256), *db = to_device(b, 128);
  float *dc = to_device(c, 128), *dagain = to_device(again, 128);
  halves_1<<<1, 32>>>(da, db, dc, dagain);
  CHECK(cudaGetLastError());
  from_device(c, dc, 128);
  from_device(again, dagain, 128);
}

extern "C" void tensor(float *a, float *b, float *c, unsigned *turned)
{
  float *da = to_device(a, 128), *db = to_device(b, 64), *dc = to_device(c, 128);
  unsigned *dt = to_device(turned, 32);
  tensor_1<<<1, 32>>>(da, db, dc, dt);
  CHECK(cudaGetLastError());
  from_device(c, dc, 128);
  from_device(turned, dt, 32);
}
