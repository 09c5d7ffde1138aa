// One mistake a function. The comment `name: kind` is on the line that the report must name; `name: kind *` where the
// report has no line.
#include <cuda_runtime.h>

static float *array(int elements)
{
  float *a;
  cudaMalloc(&a, elements * sizeof(float));
  cudaMemset(a, 0, elements * sizeof(float));
  return a;
}

__global__ void no_barrier_1(float *a)
{
  __shared__ float tile[64];
  tile[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = tile[63 - threadIdx.x]; // no_barrier: race
}
extern "C" void no_barrier(void) { no_barrier_1<<<1, 64>>>(array(64)); }

__global__ void no_barrier_at_end_1(float *a)
{
  __shared__ float tile[64];
  for (int k = 0; k < 3; k++) {
    tile[threadIdx.x] = a[threadIdx.x]; // no_barrier_at_end: race
    __syncthreads();
    a[threadIdx.x] += tile[63 - threadIdx.x];
  }
}
extern "C" void no_barrier_at_end(void) { no_barrier_at_end_1<<<1, 64>>>(array(64)); }

__global__ void two_blocks_write_1(float *a)
{
  a[threadIdx.x] = blockIdx.x; // two_blocks_write: race
}
extern "C" void two_blocks_write(void) { two_blocks_write_1<<<2, 64>>>(array(64)); }

__global__ void block_reads_block_1(float *a)
{
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i + 64 < 256)
    a[i] = a[i + 64] + 1; // block_reads_block: race
}
extern "C" void block_reads_block(void) { block_reads_block_1<<<4, 64>>>(array(256)); }

// Each block reads the element, and the last one writes it later: the first reader is the one to remember.
__global__ void all_read_one_writes_1(float *a, float *b, int writer)
{
  b[blockIdx.x] = a[0];
  __syncthreads();
  if (blockIdx.x == writer)
    a[0] = 1; // all_read_one_writes: race
}
extern "C" void all_read_one_writes(void) { all_read_one_writes_1<<<2, 1>>>(array(1), array(2), 1); }

// Several threads read, one of them writes.
__global__ void reader_writes_1(float *a, float *b)
{
  b[threadIdx.x] = a[0];
  if (threadIdx.x == 40)
    a[0] = 1; // reader_writes: race
}
extern "C" void reader_writes(void) { reader_writes_1<<<1, 64>>>(array(1), array(64)); }

__global__ void plain_and_atomic_1(float *a)
{
  threadIdx.x == 0 ? a[0] = 0 : atomicAdd(&a[0], 1.0f); // plain_and_atomic: race
}
extern "C" void plain_and_atomic(void)
{
  float *a = array(1);
  plain_and_atomic_1<<<1, 2>>>(a);
  plain_and_atomic_1<<<1, 2>>>(a);
}

__global__ void warp_is_no_block_1(float *a)
{
  __shared__ float tile[64];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncwarp();
  a[threadIdx.x] = tile[63 - threadIdx.x]; // warp_is_no_block: race
}
extern "C" void warp_is_no_block(void) { warp_is_no_block_1<<<1, 64>>>(array(64)); }

__global__ void behind_the_end_1(float *a)
{
  a[threadIdx.x + 1] = 1; // behind_the_end: bounds
}
extern "C" void behind_the_end(void) { behind_the_end_1<<<1, 64>>>(array(64)); }

__global__ void before_the_start_1(float *a, float *b)
{
  b[threadIdx.x] = a[(int)threadIdx.x - 1]; // before_the_start: bounds
}
extern "C" void before_the_start(void) { before_the_start_1<<<1, 64>>>(array(64), array(64)); }

__global__ void host_pointer_1(float *a)
{
  a[threadIdx.x] = 1; // host_pointer: bounds
}
extern "C" void host_pointer(void)
{
  static float a[64];
  host_pointer_1<<<1, 64>>>(a);
}

__global__ void null_pointer_1(float *a)
{
  a[threadIdx.x] = 1; // null_pointer: bounds
}
extern "C" void null_pointer(void) { null_pointer_1<<<1, 64>>>(0); }

__global__ void freed_1(float *a)
{
  a[threadIdx.x] = 1; // freed: bounds
}
extern "C" void freed(void)
{
  float *a = array(64);
  cudaFree(a);
  freed_1<<<1, 64>>>(a);
}

__global__ void behind_shared_1(float *a)
{
  __shared__ float first[64];
  __shared__ float second[64];
  float *p = first, *q = second;
  q[threadIdx.x] = 0;
  p[threadIdx.x + 1] = a[threadIdx.x]; // behind_shared: bounds
  __syncthreads();
  a[threadIdx.x] = p[threadIdx.x] + q[threadIdx.x];
}
extern "C" void behind_shared(void) { behind_shared_1<<<1, 64>>>(array(64)); }

__global__ void behind_dynamic_1(float *a)
{
  extern __shared__ float tile[];
  tile[threadIdx.x] = a[threadIdx.x]; // behind_dynamic: bounds
}
extern "C" void behind_dynamic(void) { behind_dynamic_1<<<1, 64, 63 * sizeof(float)>>>(array(64)); }

__global__ void next_row_1(float *a)
{
  __shared__ float tile[4][16];
  for (int k = 0; k < 4; k++)
    tile[k][threadIdx.x] = 0;
  __syncthreads();
  a[threadIdx.x] = tile[1][threadIdx.x + 1]; // next_row: index
}
extern "C" void next_row(void) { next_row_1<<<1, 16>>>(array(64)); }

__global__ void not_written_1(float *a)
{
  __shared__ float tile[64];
  if (threadIdx.x < 63)
    tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = tile[63 - threadIdx.x]; // not_written: uninitialised
}
extern "C" void not_written(void) { not_written_1<<<1, 64>>>(array(64)); }

// What an earlier block wrote is gone.
__global__ void written_before_1(float *a)
{
  __shared__ float tile[64];
  if (blockIdx.x == gridDim.x - 1)
    tile[threadIdx.x] = 1;
  __syncthreads();
  a[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x]; // written_before: uninitialised
}
extern "C" void written_before(void) { written_before_1<<<3, 64>>>(array(192)); }

__global__ void some_wait_1(float *a)
{
  if (threadIdx.x < 63)
    __syncthreads(); // some_wait: divergent barrier *
  a[threadIdx.x] = 1;
}
extern "C" void some_wait(void) { some_wait_1<<<1, 64>>>(array(64)); }

__global__ void two_barriers_1(float *a)
{
  if (threadIdx.x % 2)
    __syncthreads(); // two_barriers: divergent barrier *
  else
    __syncthreads();
  a[threadIdx.x] = 1;
}
extern "C" void two_barriers(void) { two_barriers_1<<<1, 64>>>(array(64)); }

__global__ void misaligned_1(float *a)
{
  ((float4 *)(a + 1))[threadIdx.x].x = 1; // misaligned: misaligned
}
extern "C" void misaligned(void) { misaligned_1<<<1, 2>>>(array(64)); }

__global__ void nothing_1(void) {}
extern "C" void large_block(void) { nothing_1<<<1, dim3(32, 33)>>>(); } // large_block: launch *
extern "C" void large_grid(void) { nothing_1<<<dim3(1, 65536), 1>>>(); } // large_grid: launch *
extern "C" void empty_grid(void) { nothing_1<<<0, 1>>>(); } // empty_grid: launch *

__global__ void __launch_bounds__(64) bounded_1(float *a) { a[threadIdx.x] = 1; }
extern "C" void launch_bounds(void) { bounded_1<<<1, 65>>>(array(65)); } // launch_bounds: launch *

__global__ void large_shared_1(float *a)
{
  __shared__ float tile[96][128]; // large_shared: launch *
  __shared__ float more[1];
  tile[0][threadIdx.x] = more[0] = a[0];
  __syncthreads();
  a[0] = tile[0][1] + more[0];
}
extern "C" void large_shared(void) { large_shared_1<<<1, 1>>>(array(1)); }

extern "C" void host_reads(void)
{
  volatile float *a = array(4);
  (void)a[1]; // host_reads: bounds
}
extern "C" void copies_too_much(void)
{
  float host[65];
  cudaMemcpy(host, array(64), sizeof host, cudaMemcpyDeviceToHost); // copies_too_much: bounds *
}
extern "C" void copies_the_wrong_way(void)
{
  float host[64];
  cudaMemcpy(host, array(64), sizeof host, cudaMemcpyHostToDevice); // copies_the_wrong_way: bounds *
}
extern "C" int last_error(void) { return cudaGetLastError(); }

// What a warp runs together, half of it does not come to.
__global__ void half_a_warp_1(float *a)
{
  float d[4] = {0, 0, 0, 0};
  if (threadIdx.x < 16)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{ %0, %1, %2, %3 }, { %4, %4, %4, %4 }, { %4, %4 }, { %0, %1, %2, %3 };"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(threadIdx.x));
  a[threadIdx.x] = d[0];
}
extern "C" void half_a_warp(void) { half_a_warp_1<<<1, 32>>>(array(32)); } // half_a_warp: divergent barrier *

// The halves of a warp come to two of them.
__global__ void two_products_1(float *a)
{
  float d[4] = {0, 0, 0, 0};
  if (threadIdx.x < 16)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{ %0, %1, %2, %3 }, { %4, %4, %4, %4 }, { %4, %4 }, { %0, %1, %2, %3 };"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(threadIdx.x));
  else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{ %0, %1, %2, %3 }, { %4, %4, %4, %4 }, { %4, %4 }, { %0, %1, %2, %3 };"
                 : "+f"(d[3]), "+f"(d[2]), "+f"(d[1]), "+f"(d[0])
                 : "r"(threadIdx.x));
  a[threadIdx.x] = d[0];
}
extern "C" void two_products(void) { two_products_1<<<1, 32>>>(array(32)); } // two_products: divergent barrier *

// They wait for each other, but what one wrote need not be there for another.
__global__ void product_as_a_barrier_1(float *a)
{
  __shared__ float tile[32];
  float d[4] = {0, 0, 0, 0};
  tile[threadIdx.x] = a[threadIdx.x];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{ %0, %1, %2, %3 }, { %4, %4, %4, %4 }, { %4, %4 }, { %0, %1, %2, %3 };"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(threadIdx.x));
  a[threadIdx.x] = tile[31 - threadIdx.x] + d[0]; // product_as_a_barrier: race
}
extern "C" void product_as_a_barrier(void) { product_as_a_barrier_1<<<1, 32>>>(array(32)); }
