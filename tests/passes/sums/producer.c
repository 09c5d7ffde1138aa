/* The sums of one nest run in the tiles of the next one, as its own statements. */
void f(int n, int m, double A[n][m], double B[n][m], double x[m], double s[n], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += A[i][j] * x[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[i] += B[i][j] * x[j];
        t[i] = 2.0 * s[i] + t[i];
    }
#pragma endscop
}
/* jam()
domain
  sequence
    filter { S1[i, j]; S2[i] }
      mark "group" text("S1, S2 in tiles of 64\nS0 computed in the tile that needs it")
        band[c] for(i) permutable tile(64) { S1[i, j] -> [i - (i) mod 64]; S2[i] -> [i - (i) mod 64] }
          extension { [i_t] -> S0[i, j] : (i_t) mod 64 = 0 and i_t <= i <= 63 + i_t }
            sequence
              filter { S0[i, j] }
                band[c] for(i) permutable { S0[i, j] -> [i] }
                  band[-] for(j) permutable { S0[i, j] -> [j] }
              filter { S1[i, j]; S2[i] }
                band[c] for(i) permutable point { S1[i, j] -> [i]; S2[i] -> [i] }
                  sequence
                    filter { S1[i, j] }
                      band[-] for(j) permutable { S1[i, j] -> [j] }
                    filter { S2[i] }
becomes
buffer s_sum tile array(s) extents(8) corner({ [i0, i1] -> s[(i1)] }) order(0) accesses(S0.r2, fill1_s.inside, keep2_s.inside)
buffer t_sum tile array(t) extents(8) corner({ [i0, i1] -> t[(i1)] }) order(0) accesses(S1.r2, fill3_t.inside, keep4_t.inside)
domain
  sequence
    filter { S0[i, j]; S1[i, j]; S2[i] }
      mark "group" text("S1, S2 in tiles of 64\nS0 computed in the tile that needs it")
        band[c] for(i) permutable tile(64) { S0[i, j] -> [-63 + i + (-1 - i) mod 64];
                                             S1[i, j] -> [i - (i) mod 64];
                                             S2[i] -> [i - (i) mod 64] }
          sequence
            filter { S0[i, j] }
              band[c] for(i) permutable tile(8) { S0[i, j] -> [i - (i) mod 8] }
                sequence
                  filter { S0[i, j] : 8*floor(i/8) <= -8 + n }
                    mark "allocate" names(s_sum)
                      extension {
                          [i_t, i_t2] -> fill1_s[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n;
                          [i_t, i_t2] -> keep2_s[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n }
                        sequence
                          filter { fill1_s[i0] }
                            band[c] for(x0) permutable point { fill1_s[i0] -> [i0] }
                          filter { S0[i, j] }
                            band[-] for(j) { S0[i, j] -> [j] }
                              band[c] for(i) permutable register { S0[i, j] -> [(i) mod 8] }
                          filter { keep2_s[i0] }
                            band[c] for(x0) permutable point { keep2_s[i0] -> [i0] }
                  filter { S0[i, j] : 8*floor(i/8) >= -7 + n }
                    band[c-] for(i, j) point(0) { S0[i, j] -> [i, j] }
            filter { S1[i, j]; S2[i] }
              sequence
                filter { S1[i, j] }
                  band[c] for(i) permutable tile(8) { S1[i, j] -> [i - (i) mod 8] }
                    sequence
                      filter { S1[i, j] : 8*floor(i/8) <= -8 + n }
                        mark "allocate" names(t_sum)
                          extension {
                              [i_t, i_t2] -> fill3_t[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n;
                              [i_t, i_t2] -> keep4_t[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n }
                            sequence
                              filter { fill3_t[i0] }
                                band[c] for(x0) permutable point { fill3_t[i0] -> [i0] }
                              filter { S1[i, j] }
                                band[-] for(j) { S1[i, j] -> [j] }
                                  band[c] for(i) permutable register { S1[i, j] -> [(i) mod 8] }
                              filter { keep4_t[i0] }
                                band[c] for(x0) permutable point { keep4_t[i0] -> [i0] }
                      filter { S1[i, j] : 8*floor(i/8) >= -7 + n }
                        band[c-] for(i, j) point(0) { S1[i, j] -> [i, j] }
                filter { S2[i] }
                  band[c] for(i) permutable point { S2[i] -> [i] }
says
jammed: S0 adds up 8 sums at once into registers, in the order of each cell of s
jammed: S1 adds up 8 sums at once into registers, in the order of each cell of t
*/
