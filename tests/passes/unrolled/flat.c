/* A 3 x 3 window of a picture of any size, in flat arrays: the last rows of a tile are less than four. */
void flat(int n, int m, const void *image, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i * m + j] = in[i * (m + 2) + j] + in[i * (m + 2) + j + 1] + in[i * (m + 2) + j + 2]
                             + in[(i + 1) * (m + 2) + j] + in[(i + 1) * (m + 2) + j + 1] + in[(i + 1) * (m + 2) + j + 2]
                             + in[(i + 2) * (m + 2) + j] + in[(i + 2) * (m + 2) + j + 1] + in[(i + 2) * (m + 2) + j + 2];
#pragma endscop
}
/* unroll()
domain
  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
becomes
domain
  band[c] for(i) permutable point { S0[i, j] -> [i - (i) mod 4] }
    band[c] for(j) permutable whole({ [i0, i1] : (i0) mod 4 = 0 and 0 <= i0 <= -4 + n and 0 <= i1 < m }) { S0[i, j] -> [j] }
      band[c] for(r) permutable unrolled { S0[i, j] -> [(i) mod 4] }
says
unrolled: S0: 4 iterations of i at once, which share what they read
*/
