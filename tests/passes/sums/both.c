/* A nest of both, with a start and an end: they share the loop i, and each has its own form. */
void f(int n, int m, double A[n][m], double B[m][n], double x[m], double s[n], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0.0;
        t[i] = 1.0;
        for (int j = 0; j < m; j++)
            s[i] += A[i][j] * x[j];
        for (int j = 0; j < m; j++)
            t[i] -= B[j][i] * x[j];
        t[i] = t[i] + s[i];
    }
#pragma endscop
}
/* jam()
domain
  sequence
    filter { S1[i]; S3[i, j]; S4[i] }
      mark "group" text("S1, S3, S4 in tiles of 512\nS0 computed in the tile that needs it\nS2 computed in the tile that needs it")
        band[c] for(i) permutable tile(512) { S1[i] -> [i - (i) mod 512];
                                              S3[i, j] -> [i - (i) mod 512];
                                              S4[i] -> [i - (i) mod 512] }
          extension { [i_t] -> S0[i] : (i_t) mod 512 = 0 and m > 0 and i_t <= i <= 511 + i_t;
                      [i_t] -> S2[i, j] : (i_t) mod 512 = 0 and i_t <= i <= 511 + i_t }
            sequence
              filter { S0[i] }
                band[c] for(i) permutable { S0[i] -> [i] }
              filter { S2[i, j] }
                band[c] for(i) permutable { S2[i, j] -> [i] }
                  band[-] for(j) permutable { S2[i, j] -> [j] }
              filter { S1[i]; S3[i, j]; S4[i] }
                band[c] for(i) permutable point { S1[i] -> [i]; S3[i, j] -> [i]; S4[i] -> [i] }
                  sequence
                    filter { S1[i] }
                    filter { S3[i, j] }
                      band[-] for(j) permutable { S3[i, j] -> [j] }
                    filter { S4[i] }
becomes
buffer s_sum tile array(s) extents(8) corner({ [i0, i1] -> s[(i1)] }) order(0) accesses(S2.r2, fill1_s.inside, keep2_s.inside)
buffer t_sum tile array(t) extents(8) corner({ [i0, i1, i2] -> t[(i2)] }) order(0) accesses(S3.r2, fill3_t.inside, keep4_t.inside)
domain
  sequence
    filter { S1[i]; S2[i, j]; S3[i, j]; S4[i] }
      mark "group" text("S1, S3, S4 in tiles of 512\nS0 computed in the tile that needs it\nS2 computed in the tile that needs it")
        band[c] for(i) permutable tile(512) { S1[i] -> [i - (i) mod 512];
                                              S2[i, j] -> [-511 + i + (-1 - i) mod 512];
                                              S3[i, j] -> [i - (i) mod 512];
                                              S4[i] -> [i - (i) mod 512] }
          extension { [i_t] -> S0[i] : (i_t) mod 512 = 0 and m > 0 and i_t <= i <= 511 + i_t }
            sequence
              filter { S0[i] }
                band[c] for(i) permutable { S0[i] -> [i] }
              filter { S2[i, j] }
                band[c] for(i) permutable tile(8) { S2[i, j] -> [i - (i) mod 8] }
                  sequence
                    filter { S2[i, j] : 8*floor(i/8) <= -8 + n }
                      mark "allocate" names(s_sum)
                        extension {
                            [i_t, i_t2] -> fill1_s[i0] : (i_t) mod 512 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 511 + i_t and 8*floor(i0/8) <= -8 + n;
                            [i_t, i_t2] -> keep2_s[i0] : (i_t) mod 512 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 511 + i_t and 8*floor(i0/8) <= -8 + n }
                          sequence
                            filter { fill1_s[i0] }
                              band[c] for(x0) permutable point { fill1_s[i0] -> [i0] }
                            filter { S2[i, j] }
                              band[-] for(j) { S2[i, j] -> [j] }
                                band[c] for(i) permutable register { S2[i, j] -> [(i) mod 8] }
                            filter { keep2_s[i0] }
                              band[c] for(x0) permutable point { keep2_s[i0] -> [i0] }
                    filter { S2[i, j] : 8*floor(i/8) >= -7 + n }
                      band[c-] for(i, j) point(0) { S2[i, j] -> [i, j] }
              filter { S1[i]; S3[i, j]; S4[i] }
                sequence
                  filter { S1[i] }
                    band[c] for(i) permutable point { S1[i] -> [i] }
                  filter { S3[i, j] : 8*floor(j/8) <= -8 + m and 8*floor(i/8) <= -8 + n }
                    band[-c] for(j, i) tile(8, 8) { S3[i, j] -> [j - (j) mod 8, i - (i) mod 8] }
                      mark "allocate" names(t_sum)
                        extension {
                            [i_t, j_t, i_t2] -> fill3_t[i0] : (i_t) mod 512 = 0 and (j_t) mod 8 = 0 and (i_t2) mod 8 = 0 and m >= 8 and -7 <= j_t <= -8 + m and i_t2 <= -8 + n and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 511 + i_t and 8*floor(i0/8) <= -8 + n;
                            [i_t, j_t, i_t2] -> keep4_t[i0] : (i_t) mod 512 = 0 and (j_t) mod 8 = 0 and (i_t2) mod 8 = 0 and m >= 8 and -7 <= j_t <= -8 + m and i_t2 <= -8 + n and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 511 + i_t and 8*floor(i0/8) <= -8 + n }
                          sequence
                            filter { fill3_t[i0] }
                              band[c] for(x0) permutable point { fill3_t[i0] -> [i0] }
                            filter { S3[i, j] }
                              band[-cc] for(j, i, i) register vector(2) lanes(-, -, 4) { S3[i, j] -> [(j) mod 8, floor(i/4) - 2*floor(i/8), (i) mod 4] }
                            filter { keep4_t[i0] }
                              band[c] for(x0) permutable point { keep4_t[i0] -> [i0] }
                  filter { S3[i, j] : 8*floor((-1 - n)/8) <= -9 - i and 8*floor((-1 - m)/8) >= -8 - j }
                    band[-c] for(j, i) point(1) { S3[i, j] -> [j, i] }
                  filter { S3[i, j] : 8*floor((-1 - n)/8) >= -8 - i }
                    band[-c] for(j, i) point(1) { S3[i, j] -> [j, i] }
                  filter { S4[i] }
                    band[c] for(i) permutable point { S4[i] -> [i] }
says
jammed: S2 adds up 8 sums at once into registers, in the order of each cell of s
jammed: S3 adds up 8 x 8 values at once into registers, in the order of each cell of t
*/
