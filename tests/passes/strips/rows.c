/* A filter along each row. */
void rows(int n, int m, float A[n][m], float B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float t = 0.0f;
        for (int j = 0; j < m; j++) {
            A[i][j] = 0.25f * B[i][j] + 0.5f * t;
            t = A[i][j];
        }
    }
#pragma endscop
}
/* spread()
domain
  band[c] for(i) { S0[i] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i] }
    sequence
      filter { S0[i] }
      filter { S1[i, j]; S2[i, j] }
        band[-] for(j) { S1[i, j] -> [j]; S2[i, j] -> [j] }
          sequence
            filter { S1[i, j] }
            filter { S2[i, j] }
becomes
buffer t_of spread array(t) extents(8) corner({ [i0] -> t[(i0)] }) places({ S0[i] -> t[i] : m > 0 and 0 <= i < n; S2[i, j] -> t[i] : 0 <= i < n and 0 <= j < m; S1[i, j] -> t[i] : 0 <= i < n and 0 <= j < m }) accesses(S0.r0, S1.r1, S2.r1)
domain
  band[c] for(i) permutable tile(8) { S0[i] -> [i - (i) mod 8];
                                      S1[i, j] -> [i - (i) mod 8];
                                      S2[i, j] -> [i - (i) mod 8] }
    sequence
      filter { S0[i] : 8*floor(i/8) <= -8 + n;
               S1[i, j] : 8*floor(i/8) <= -8 + n;
               S2[i, j] : 8*floor(i/8) <= -8 + n }
        mark "allocate" names(t_of)
          sequence
            filter { S0[i] }
              band[c] for(i) permutable point unroll(8) { S0[i] -> [i] }
            filter { S1[i, j]; S2[i, j] }
              band[-] for(j) { S1[i, j] -> [j]; S2[i, j] -> [j] }
                band[c] for(i) permutable point unroll(8) { S1[i, j] -> [i]; S2[i, j] -> [i] }
                  sequence
                    filter { S1[i, j] }
                    filter { S2[i, j] }
      filter { S0[i] : 8*floor(i/8) >= -7 + n;
               S1[i, j] : 8*floor(i/8) >= -7 + n;
               S2[i, j] : 8*floor(i/8) >= -7 + n }
        band[c] for(i) point { S0[i] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i] }
          sequence
            filter { S0[i] }
            filter { S1[i, j]; S2[i, j] }
              band[-] for(j) { S1[i, j] -> [j]; S2[i, j] -> [j] }
                sequence
                  filter { S1[i, j] }
                  filter { S2[i, j] }
says
spread: S0, S1, S2 in strips of 8 iterations of i, each with its own t
*/
