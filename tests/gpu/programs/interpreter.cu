// Each thread makes the accesses that a table gives it: see test_shim_races.py.
#include <cuda_runtime.h>

enum { kNothing, kRead, kWrite, kUpdate, kReadByte, kWriteByte };

struct Step {
  int access, place;
};

__device__ void make(const Step &step, int *memory, int *sink)
{
  char *bytes = (char *)memory;
  switch (step.access) {
  case kRead:
    *sink += memory[step.place];
    break;
  case kWrite:
    memory[step.place] = 1;
    break;
  case kUpdate:
    atomicAdd(&memory[step.place], 1);
    break;
  case kReadByte:
    *sink += bytes[4 * step.place + 1];
    break;
  case kWriteByte:
    bytes[4 * step.place + 2] = 1;
    break;
  }
}

// steps[block][interval][slot][thread]; a warp waits for itself after a slot where warps[block][interval][slot][warp].
__global__ void interpret(int intervals, int slots, int in_shared, const Step *steps, const int *warps, int *memory, int *sinks)
{
  __shared__ int tile[8];
  int *sink = &sinks[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < intervals; k++) {
    for (int s = 0; s < slots; s++) {
      int row = (blockIdx.x * intervals + k) * slots + s;
      make(steps[row * blockDim.x + threadIdx.x], in_shared ? tile : memory, sink);
      if (warps[row * 2 + threadIdx.x / 32])
        __syncwarp();
    }
    __syncthreads();
  }
}

extern "C" void run(int blocks, int threads, int intervals, int slots, int in_shared, Step *steps, int *warps)
{
  long rows = (long)blocks * intervals * slots;
  Step *dsteps;
  int *dwarps, *memory, *sinks;
  cudaMalloc(&dsteps, rows * threads * sizeof *steps);
  cudaMalloc(&dwarps, rows * 2 * sizeof *warps);
  cudaMalloc(&memory, 8 * sizeof(int));
  cudaMalloc(&sinks, blocks * threads * sizeof(int));
  cudaMemcpy(dsteps, steps, rows * threads * sizeof *steps, cudaMemcpyHostToDevice);
  cudaMemcpy(dwarps, warps, rows * 2 * sizeof *warps, cudaMemcpyHostToDevice);
  interpret<<<blocks, threads>>>(intervals, slots, in_shared, dsteps, dwarps, memory, sinks);
}
