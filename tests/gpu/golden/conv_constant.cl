/* polyc 0.1.0: the kernels of conv_constant.c. */
#pragma OPENCL FP_CONTRACT OFF

#define polyc_min(a, b) ((a) < (b) ? (a) : (b))

/* --- conv_constant.c:12 --- */

/* S1, S2, S3 in tiles of 32 x 32
   S0 computed in the tile that needs it
   kept in the tile: A */
__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void conv_12_1(__global const float (*restrict B)[3], __global float (*restrict C)[138], __global const float (*restrict In)[140])
{
  const int by = get_group_id(1);
  const int bx = get_group_id(0);
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  __local float A_tile[34][34];
  const int ht = 32 * by;
  const int wt = 32 * bx;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int h = ht + ty; h < polyc_min(40, ht + 34); h += 8)
    for (int w = wt + tx; w < polyc_min(140, wt + 34); w += 32)
      A_tile[h - ht][w - wt] = (float)(int)(In[h][w] * 16.0f) / 16.0f;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int h = ht + ty; h < polyc_min(38, ht + 32); h += 8)
    for (int w = wt + tx; w < polyc_min(138, wt + 32); w += 32) {
      C[h][w] = 0;
      for (int kh = 0; kh < 3; kh++)
        for (int kw = 0; kw < 3; kw++)
          C[h][w] += A_tile[h + kh - ht][w + kw - wt] * B[kh][kw];
      C[h][w] = C[h][w] > 0.0f ? C[h][w] : 0.0f;
    }
}
