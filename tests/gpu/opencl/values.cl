#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define TILE 16

/* C = A B, tile by tile through local memory: the groups of a 2-D grid, barriers in a loop, edges that are cut. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void product(int n, __global const double *A,
                                                                           __global const double *B,
                                                                           __global double *C)
{
  __local double a[TILE][TILE];
  __local double b[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1);
  int i = get_group_id(1) * TILE + y, j = get_group_id(0) * TILE + x;
  double sum = 0.0;
  for (int t = 0; t < n; t += TILE) {
    a[y][x] = i < n && t + x < n ? A[i * n + t + x] : 0.0;
    b[y][x] = t + y < n && j < n ? B[(t + y) * n + j] : 0.0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++)
      if (t + k < n)
        sum += a[y][k] * b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n && j < n)
    C[i * n + j] = sum;
}

/* One step of a stencil. */
__kernel void stencil(int n, __global const float *old, __global float *new)
{
  int i = get_global_id(0);
  if (i < n)
    new[i] = i == 0 || i == n - 1 ? old[i] : (old[i - 1] + old[i] * 1.25f + old[i + 1]) / 3.1f;
}

/* What differs in its last bit where the compiler or the device takes liberties. */
__kernel void rounding(int n, __global const double *a, __global const double *b, __global const double *c,
                    __global double *fused, __global float *quotient, __global float *root, __global float *tiny)
{
  int i = get_global_id(0);
  if (i < n) {
    float x = a[i], y = b[i];
    fused[i] = a[i] * b[i] + c[i];
    quotient[i] = x / y;
    root[i] = sqrt(x);
    tiny[i] = x * 1e-39f;
  }
}
