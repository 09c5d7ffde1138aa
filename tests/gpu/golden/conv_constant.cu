/* polyc 0.1.0: the kernels of conv_constant.c, and the functions that run them.
   polyc_…_device() takes pointers to the device's memory and a stream, and answers a cudaError_t as int;
   polyc_…() takes the host's arrays: it copies them there and back, and ends the program if CUDA reports an error. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define polyc_min(a, b) ((a) < (b) ? (a) : (b))

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

/* --- conv_constant.c:12 --- */

/* S1, S2, S3 in tiles of 32 x 32
   S0 computed in the tile that needs it
   kept in the tile: A */
static __global__ void __launch_bounds__(256, 2) conv_12_1(const float (*__restrict__ B)[3], float (*__restrict__ C)[138], const float (*__restrict__ In)[140])
{
  const int by = blockIdx.y;
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  __shared__ float A_tile[34][34];
  const int ht = 32 * by;
  const int wt = 32 * bx;
  __syncthreads();
  for (int h = ht + ty; h < polyc_min(40, ht + 34); h += 8)
    for (int w = wt + tx; w < polyc_min(140, wt + 34); w += 32)
      A_tile[h - ht][w - wt] = (float)(int)(In[h][w] * 16.0f) / 16.0f;
  __syncthreads();
  for (int h = ht + ty; h < polyc_min(38, ht + 32); h += 8)
    for (int w = wt + tx; w < polyc_min(138, wt + 32); w += 32) {
      C[h][w] = 0;
      for (int kh = 0; kh < 3; kh++)
        for (int kw = 0; kw < 3; kw++)
          C[h][w] += A_tile[h + kh - ht][w + kw - wt] * B[kh][kw];
      C[h][w] = C[h][w] > 0.0f ? C[h][w] : 0.0f;
    }
}

static void start_conv_12_1(cudaStream_t stream, const float *B, float *C, const float *In)
{
  dim3 grid(polyc_blocks(5, 2147483647), polyc_blocks(2, 65535));
  conv_12_1<<<grid, dim3(32, 8), 0, stream>>>((const float (*)[3])B, (float (*)[138])C, (const float (*)[140])In);
}

extern "C" int polyc_conv_constant_conv_12_device(const float *B, float *C, const float *In, cudaStream_t stream)
{
  start_conv_12_1(stream, B, C, In);
  return (int)cudaGetLastError();
}

extern "C" void polyc_conv_constant_conv_12(const float *B, float *C, const float *In)
{
  const size_t B_bytes = sizeof(float) * (size_t)((long)3 * 3);
  const size_t C_bytes = sizeof(float) * (size_t)((long)38 * 138);
  const size_t In_bytes = sizeof(float) * (size_t)((long)40 * 140);
  float *B_device = (float *)polyc_to_device(B, B_bytes, 1);
  float *C_device = (float *)polyc_to_device(C, C_bytes, 1);
  float *In_device = (float *)polyc_to_device(In, In_bytes, 1);
  polyc_try(polyc_conv_constant_conv_12_device(B_device, C_device, In_device, 0), "conv_constant.c:12");
  polyc_try((int)cudaDeviceSynchronize(), "conv_constant.c:12");
  polyc_to_host(NULL, B_device, B_bytes, 0);
  polyc_to_host(C, C_device, C_bytes, 1);
  polyc_to_host(NULL, In_device, In_bytes, 0);
}
