/* polyc 0.1.0: the kernels of odd.c, and the functions that run them.
   polyc_…_device() takes pointers to the device's memory and a stream, and answers a cudaError_t as int;
   polyc_…() takes the host's arrays: it copies them there and back, and ends the program if CUDA reports an error. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>


/* Starts to copy an element into shared memory (cp.async, from sm_80 on), or a zero where it lies outside. */
template <typename T> static __device__ __forceinline__ void polyc_fetch(T *to, const T *from, bool inside)
{
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "nvcc makes a trap of other sizes");
  __pipeline_memcpy_async(to, from, sizeof(T), inside ? 0 : sizeof(T));
}

/* Tensor cores, from sm_80 on: a float as they take it, rounded to ten bits of mantissa, and
   c[16][8] += a[16][8] * b[8][8] by the 32 threads of a warp. Thread 4 * g + t has
     c[g][2 * t], c[g][2 * t + 1], c[g + 8][2 * t], c[g + 8][2 * t + 1],
     a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4], b[t][g], b[t + 4][g].
   On older GPUs the same sums, of products that are not rounded before. */
static __device__ __forceinline__ unsigned polyc_tf32(float value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return __float_as_uint(value);
#else
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return rounded;
#endif
}

static __device__ __forceinline__ void polyc_mma_tf32(float &c0, float &c1, float &c2, float &c3,
                                                      const unsigned (&a)[4], const unsigned (&b)[2])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
      const float a0 = __uint_as_float(__shfl_sync(0xffffffffu, a[2 * half], 4 * g + k));
      const float a1 = __uint_as_float(__shfl_sync(0xffffffffu, a[2 * half + 1], 4 * g + k));
      const float b0 = __uint_as_float(__shfl_sync(0xffffffffu, b[half], 8 * t + k));
      const float b1 = __uint_as_float(__shfl_sync(0xffffffffu, b[half], 8 * t + 4 + k));
      c0 += a0 * b0;
      c1 += a0 * b1;
      c2 += a1 * b0;
      c3 += a1 * b1;
    }
  }
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{ %0, %1, %2, %3 }, { %4, %5, %6, %7 }, { %8, %9 }, { %0, %1, %2, %3 };"
               : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/* Blocks along an axis: at least one, at most as many as fit; loops over tiles take steps of the grid. */
static unsigned polyc_blocks(long wanted, long most)
{
  return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

static void polyc_try(int error, const char *what)
{
  if (error != (int)cudaSuccess) {
    fprintf(stderr, "polyc: %s: %s\n", what, cudaGetErrorString((cudaError_t)error));
    exit(EXIT_FAILURE);
  }
}

static void *polyc_to_device(const void *host, size_t bytes, int copied)
{
  void *device = NULL;
  polyc_try((int)cudaMalloc(&device, bytes ? bytes : 1), "memory on the device");
  if (copied)
    polyc_try((int)cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy to the device");
  return device;
}

static void polyc_to_host(void *host, void *device, size_t bytes, int copied)
{
  if (copied)
    polyc_try((int)cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  polyc_try((int)cudaFree(device), "memory on the device");
}

/* --- odd.c:4 --- */

/* S0 in tiles of 16 x 16 */
static __global__ void __launch_bounds__(64, 8) f_4_1(const float (*__restrict__ A)[43], const float (*__restrict__ B)[41], float (*__restrict__ C)[41])
{
  const long by = blockIdx.y;
  const long bx = blockIdx.x;
  const long tx = threadIdx.x;
  const long ty = threadIdx.y;
  const long ly = tx / 4;
  const long lx = tx % 4;
  float C_sum[2][2];
  __shared__ __align__(16) float A_panel[2][16][20];
  __shared__ __align__(16) float B_panel[2][16][24];
  const long it = 16 * by;
  const long jt = 16 * bx;
#pragma unroll
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++)
      C_sum[i][j] = it + ly + 8 * i <= 38 && jt + 8 * ty + 2 * lx + j <= 40 ? C[it + ly + 8 * i][jt + 8 * ty + 2 * lx + j] : 0;
  }
  {
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int c = 32 * ty + tx + 64 * q;
      const long x0 = c / 16 + it;
      const long x1 = c % 16;
      polyc_fetch(&A_panel[0][x0 - it][x1], x0 <= 38 && x1 <= 42 ? &A[x0][x1] : &A[0][0], x0 <= 38 && x1 <= 42);
    }
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int c = 32 * ty + tx + 64 * q;
      const long x0 = c / 16;
      const long x1 = c % 16 + jt;
      polyc_fetch(&B_panel[0][x0][x1 - jt], x0 <= 42 && x1 <= 40 ? &B[x0][x1] : &B[0][0], x0 <= 42 && x1 <= 40);
    }
    __pipeline_commit();
    int stage = 0;
    for (long kt = 0; kt < 48; kt += 16) {
      __pipeline_wait_prior(0);
      __syncthreads();
      if (kt + 16 < 48) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
          const int c = 32 * ty + tx + 64 * q;
          const long x0 = c / 16 + it;
          const long x1 = c % 16 + (kt + 16);
          polyc_fetch(&A_panel[1 - stage][x0 - it][x1 - (kt + 16)], x0 <= 38 && x1 <= 42 ? &A[x0][x1] : &A[0][0], x0 <= 38 && x1 <= 42);
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
          const int c = 32 * ty + tx + 64 * q;
          const long x0 = c / 16 + (kt + 16);
          const long x1 = c % 16 + jt;
          polyc_fetch(&B_panel[1 - stage][x0 - (kt + 16)][x1 - jt], x0 <= 42 && x1 <= 40 ? &B[x0][x1] : &B[0][0], x0 <= 42 && x1 <= 40);
        }
      }
      __pipeline_commit();
      for (long k = kt; k < kt + 16; k += 8) {
        unsigned A_part[1][4];
        unsigned B_part[1][2];
        A_part[0][0] = polyc_tf32(A_panel[stage][ly][lx + k - kt]);
        A_part[0][1] = polyc_tf32(A_panel[stage][ly + 8][lx + k - kt]);
        A_part[0][2] = polyc_tf32(A_panel[stage][ly][lx + k - kt + 4]);
        A_part[0][3] = polyc_tf32(A_panel[stage][ly + 8][lx + k - kt + 4]);
        B_part[0][0] = polyc_tf32(B_panel[stage][lx + k - kt][8 * ty + ly]);
        B_part[0][1] = polyc_tf32(B_panel[stage][lx + k - kt + 4][8 * ty + ly]);
        polyc_mma_tf32(C_sum[0][0], C_sum[0][1], C_sum[1][0], C_sum[1][1], A_part[0], B_part[0]);
      }
      stage = 1 - stage;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++)
      if (it + ly + 8 * i <= 38 && jt + 8 * ty + 2 * lx + j <= 40)
        C[it + ly + 8 * i][jt + 8 * ty + 2 * lx + j] = C_sum[i][j];
  }
}

static void start_f_4_1(cudaStream_t stream, const float *A, const float *B, float *C)
{
  dim3 grid(polyc_blocks(3, 2147483647), polyc_blocks(3, 65535));
  f_4_1<<<grid, dim3(32, 2), 0, stream>>>((const float (*)[43])A, (const float (*)[41])B, (float (*)[41])C);
}

extern "C" int polyc_odd_f_4_device(const float *A, const float *B, float *C, cudaStream_t stream)
{
  start_f_4_1(stream, A, B, C);
  return (int)cudaGetLastError();
}

extern "C" void polyc_odd_f_4(const float *A, const float *B, float *C)
{
  const size_t A_bytes = sizeof(float) * (size_t)((long)39 * 43);
  const size_t B_bytes = sizeof(float) * (size_t)((long)43 * 41);
  const size_t C_bytes = sizeof(float) * (size_t)((long)39 * 41);
  float *A_device = (float *)polyc_to_device(A, A_bytes, 1);
  float *B_device = (float *)polyc_to_device(B, B_bytes, 1);
  float *C_device = (float *)polyc_to_device(C, C_bytes, 1);
  polyc_try(polyc_odd_f_4_device(A_device, B_device, C_device, 0), "odd.c:4");
  polyc_try((int)cudaDeviceSynchronize(), "odd.c:4");
  polyc_to_host(NULL, A_device, A_bytes, 0);
  polyc_to_host(NULL, B_device, B_bytes, 0);
  polyc_to_host(C, C_device, C_bytes, 1);
}
