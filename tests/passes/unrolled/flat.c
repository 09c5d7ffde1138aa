/* A window over the gradients of a picture of any size, in flat arrays: the last rows of a tile are less than four. */
void flat(int n, int m, const void *image, float *d, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            d[i * (m + 2) + j] = (in[(i + 2) * (m + 2) + j] - in[i * (m + 2) + j]) * 0.5f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i * m + j] = d[i * (m + 2) + j] + d[i * (m + 2) + j + 1] + d[i * (m + 2) + j + 2]
                             + d[(i + 1) * (m + 2) + j] + d[(i + 1) * (m + 2) + j + 1] + d[(i + 1) * (m + 2) + j + 2]
                             + d[(i + 2) * (m + 2) + j] + d[(i + 2) * (m + 2) + j + 1] + d[(i + 2) * (m + 2) + j + 2];
#pragma endscop
}
/* unroll()
buffer d_tile tile array(d) extents(10, 7170) corner({ [i0, i1] -> d[(i0), (i1)] }) accesses(S0.r2, S1.r0, S1.r1, S1.r2, S1.r3, S1.r4, S1.r5, S1.r6, S1.r7, S1.r8)
domain
  sequence
    filter { S1[i, j] }
      mark "group" text("S1 in tiles of 8 x 7168\nS0 computed in the tile that needs it, 25 % repeated\nkept in the tile: d")
        band[cc] for(i, j) permutable tile(8, 7168) { S1[i, j] -> [i - (i) mod 8, j - (j) mod 7168] }
          mark "allocate" names(d_tile)
            extension { [i_t, j_t] -> S0[i, j] : (i_t) mod 8 = 0 and (j_t) mod 7168 = 0 and 0 <= i_t < n and 0 <= j_t < m and i_t <= i <= 9 + i_t and j_t <= j <= 7169 + j_t }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j] }
                  band[cc] for(i, j) permutable point { S1[i, j] -> [i, j] }
becomes
buffer d_tile tile array(d) extents(10, 7170) corner({ [i0, i1] -> d[(i0), (i1)] }) accesses(S0.r2, S1.r0, S1.r1, S1.r2, S1.r3, S1.r4, S1.r5, S1.r6, S1.r7, S1.r8)
domain
  sequence
    filter { S1[i, j] }
      mark "group" text("S1 in tiles of 8 x 7168\nS0 computed in the tile that needs it, 25 % repeated\nkept in the tile: d")
        band[cc] for(i, j) permutable tile(8, 7168) { S1[i, j] -> [i - (i) mod 8, j - (j) mod 7168] }
          mark "allocate" names(d_tile)
            extension { [i_t, j_t] -> S0[i, j] : (i_t) mod 8 = 0 and (j_t) mod 7168 = 0 and 0 <= i_t < n and 0 <= j_t < m and i_t <= i <= 9 + i_t and j_t <= j <= 7169 + j_t }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j] }
                  band[c] for(i) permutable point { S1[i, j] -> [i - (i) mod 4] }
                    band[c] for(j) permutable point whole({ [i0, i1, i2, i3] : (i0) mod 8 = 0 and (i1) mod 7168 = 0 and (i2) mod 4 = 0 and i2 >= i0 and 0 <= i2 <= 4 + i0 and i2 <= -4 + n and i3 >= i1 and 0 <= i3 <= 7167 + i1 and i3 < m }) { S1[i, j] -> [j] }
                      band[c] for(r) permutable unrolled { S1[i, j] -> [(i) mod 4] }
says
unrolled: S1: 4 iterations of i at once, which share what they read
*/
