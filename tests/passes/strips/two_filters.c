/* Down along the columns, up again, and along the rows: the same scalars, which belong to columns and to rows. */
void f(int n, int m, float A[n][m], float B[n][m], float C[n][m])
{
    float s, t;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0.0f;
        for (int j = 0; j < m; j++) {
            C[i][j] = B[i][j] + s;
            s = 0.5f * C[i][j];
        }
    }
    for (int j = 0; j < m; j++) {
        s = 0.0f;
        for (int i = 0; i < n; i++) {
            A[i][j] = C[i][j] + s;
            s = 0.5f * A[i][j];
        }
    }
    for (int j = 0; j < m; j++) {
        s = 0.0f;
        t = 0.0f;
        for (int i = n - 1; i >= 0; i--) {
            B[i][j] = A[i][j] - s + t;
            t = s;
            s = B[i][j];
        }
    }
#pragma endscop
}
/* spread()
domain
  sequence
    filter { S0[i]; S1[i, j]; S2[i, j] }
      band[c] for(i) { S0[i] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i] }
        sequence
          filter { S0[i] }
          filter { S1[i, j]; S2[i, j] }
            band[-] for(j) { S1[i, j] -> [j]; S2[i, j] -> [j] }
              sequence
                filter { S1[i, j] }
                filter { S2[i, j] }
    filter { S3[j]; S4[j, i]; S5[j, i] }
      band[c] for(j) { S3[j] -> [j]; S4[j, i] -> [j]; S5[j, i] -> [j] }
        sequence
          filter { S3[j] }
          filter { S4[j, i]; S5[j, i] }
            band[-] for(i) { S4[j, i] -> [i]; S5[j, i] -> [i] }
              sequence
                filter { S4[j, i] }
                filter { S5[j, i] }
    filter { S10[j, i]; S6[j]; S7[j]; S8[j, i]; S9[j, i] }
      band[c] for(j) { S10[j, i] -> [j]; S6[j] -> [j]; S7[j] -> [j]; S8[j, i] -> [j]; S9[j, i] -> [j] }
        sequence
          filter { S6[j] }
          filter { S7[j] }
          filter { S10[j, i]; S8[j, i]; S9[j, i] }
            band[-] for(i) { S10[j, i] -> [-i]; S8[j, i] -> [-i]; S9[j, i] -> [-i] }
              sequence
                filter { S8[j, i] }
                filter { S9[j, i] }
                filter { S10[j, i] }
becomes
buffer s_of spread array(s) extents(8) corner({ [i0] -> s[(i0)] }) places({ S0[i] -> s[i] : m > 0 and 0 <= i < n; S2[i, j] -> s[i] : 0 <= i < n and 0 <= j < m; S1[i, j] -> s[i] : 0 <= i < n and 0 <= j < m }) accesses(S0.r0, S1.r1, S2.r1)
buffer s_of2 spread array(s_2) extents(64) corner({ [i0] -> s_2[(i0)] }) places({ S4[j, i] -> s_2[j] : 0 <= j < m and 0 <= i < n; S3[j] -> s_2[j] : n > 0 and 0 <= j < m; S5[j, i] -> s_2[j] : 0 <= j < m and 0 <= i < n }) accesses(S3.r0, S4.r1, S5.r1)
buffer s_of3 spread array(s_3) extents(64) corner({ [i0] -> s_3[(i0)] }) places({ S6[j] -> s_3[j] : n > 0 and 0 <= j < m; S8[j, i] -> s_3[j] : 0 <= j < m and 0 <= i < n; S9[j, i] -> s_3[j] : 0 <= j < m and 0 <= i < n; S10[j, i] -> s_3[j] : 0 <= j < m and 0 <= i < n }) accesses(S10.r1, S6.r0, S8.r1, S9.r0)
buffer t_of spread array(t) extents(64) corner({ [i0] -> t[(i0)] }) places({ S7[j] -> t[j] : 0 <= j < m; S9[j, i] -> t[j] : 0 <= j < m and 0 <= i < n; S8[j, i] -> t[j] : 0 <= j < m and 0 <= i < n }) accesses(S7.r0, S8.r2, S9.r1)
domain
  sequence
    filter { S0[i]; S1[i, j]; S2[i, j] }
      band[c] for(i) permutable tile(8) { S0[i] -> [i - (i) mod 8];
                                          S1[i, j] -> [i - (i) mod 8];
                                          S2[i, j] -> [i - (i) mod 8] }
        sequence
          filter { S0[i] : 8*floor(i/8) <= -8 + n;
                   S1[i, j] : 8*floor(i/8) <= -8 + n;
                   S2[i, j] : 8*floor(i/8) <= -8 + n }
            mark "allocate" names(s_of)
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
    filter { S3[j]; S4[j, i]; S5[j, i] }
      band[c] for(j) permutable tile(64) { S3[j] -> [j - (j) mod 64];
                                           S4[j, i] -> [j - (j) mod 64];
                                           S5[j, i] -> [j - (j) mod 64] }
        mark "allocate" names(s_of2)
          sequence
            filter { S3[j] }
              band[c] for(j) permutable point { S3[j] -> [j] }
            filter { S4[j, i]; S5[j, i] }
              band[-] for(i) { S4[j, i] -> [i]; S5[j, i] -> [i] }
                band[c] for(j) permutable point { S4[j, i] -> [j]; S5[j, i] -> [j] }
                  sequence
                    filter { S4[j, i] }
                    filter { S5[j, i] }
    filter { S10[j, i]; S6[j]; S7[j]; S8[j, i]; S9[j, i] }
      band[c] for(j) permutable tile(64) { S10[j, i] -> [j - (j) mod 64];
                                           S6[j] -> [j - (j) mod 64];
                                           S7[j] -> [j - (j) mod 64];
                                           S8[j, i] -> [j - (j) mod 64];
                                           S9[j, i] -> [j - (j) mod 64] }
        mark "allocate" names(s_of3, t_of)
          sequence
            filter { S6[j]; S7[j] }
              band[c] for(j) permutable point { S6[j] -> [j]; S7[j] -> [j] }
                sequence
                  filter { S6[j] }
                  filter { S7[j] }
            filter { S10[j, i]; S8[j, i]; S9[j, i] }
              band[-] for(i) { S10[j, i] -> [-i]; S8[j, i] -> [-i]; S9[j, i] -> [-i] }
                band[c] for(j) permutable point { S10[j, i] -> [j]; S8[j, i] -> [j]; S9[j, i] -> [j] }
                  sequence
                    filter { S8[j, i] }
                    filter { S9[j, i] }
                    filter { S10[j, i] }
says
spread: S0, S1, S2 in strips of 8 iterations of i, each with its own s
spread: S3, S4, S5 in strips of 64 iterations of j, each with its own s
spread: S10, S6, S7, S8, S9 in strips of 64 iterations of j, each with its own s, t
*/
