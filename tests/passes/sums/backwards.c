/* Loops that count down. */
void f(int n, int m, double A[n][m], double x[m], double y[n], double z[m])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--)
            y[i] += A[i][j] * x[j];
    for (int j = m - 1; j >= 0; j--)
        for (int i = n - 1; i >= 0; i--)
            z[j] += A[i][j] * y[i];
#pragma endscop
}
/* jam()
domain
  sequence
    filter { S0[i, j] }
      band[c] for(i) permutable { S0[i, j] -> [i] }
        band[-] for(j) permutable { S0[i, j] -> [-j] }
    filter { S1[j, i] }
      band[c] for(j) permutable { S1[j, i] -> [j] }
        band[-] for(i) permutable { S1[j, i] -> [-i] }
becomes
buffer y_sum tile array(y) extents(8) corner({ [i0, i1] -> y[(i1)] }) order(0) accesses(S0.r2, fill1_y.inside, keep2_y.inside)
buffer z_sum tile array(z) extents(8) corner({ [i0, i1, i2] -> z[(i2)] }) order(0) accesses(S1.r2, fill3_z.inside, keep4_z.inside)
domain
  sequence
    filter { S0[i, j] }
      band[c] for(i) permutable tile(64) { S0[i, j] -> [i - (i) mod 64] }
        band[c] for(i) permutable tile(8) { S0[i, j] -> [i - (i) mod 8] }
          sequence
            filter { S0[i, j] : 8*floor(i/8) <= -8 + n }
              mark "allocate" names(y_sum)
                extension {
                    [i_t, i_t2] -> fill1_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n;
                    [i_t, i_t2] -> keep2_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and m > 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n }
                  sequence
                    filter { fill1_y[i0] }
                      band[c] for(x0) permutable point { fill1_y[i0] -> [i0] }
                    filter { S0[i, j] }
                      band[-] for(j) { S0[i, j] -> [-j] }
                        band[c] for(i) permutable register { S0[i, j] -> [(i) mod 8] }
                    filter { keep2_y[i0] }
                      band[c] for(x0) permutable point { keep2_y[i0] -> [i0] }
            filter { S0[i, j] : 8*floor(i/8) >= -7 + n }
              band[c-] for(i, j) point(0) { S0[i, j] -> [i, -j] }
    filter { S1[j, i] }
      band[c] for(j) permutable tile(512) { S1[j, i] -> [j - (j) mod 512] }
        sequence
          filter { S1[j, i] : 8*floor((-1 - m)/8) <= -9 - j and 8*floor((-n)/8) >= -7 - i }
            band[-c] for(i, j) point(1) { S1[j, i] -> [-i, j] }
          filter { S1[j, i] : i > 0 and 8*floor((-1 + i)/8) <= -9 + n and 8*floor(j/8) <= -8 + m }
            band[-c] for(i, j) tile(8, 8) { S1[j, i] -> [-i - (-i) mod 8, j - (j) mod 8] }
              mark "allocate" names(z_sum)
                extension {
                    [j_t, i_t, j_t2] -> fill3_z[i0] : exists (e4: (j_t) mod 512 = 0 and (i_t) mod 8 = 0 and (j_t2) mod 8 = 0 and j_t2 <= -8 + m and i0 >= j_t and i0 >= j_t2 and 0 <= i0 <= 7 + j_t2 and i0 <= 511 + j_t and 8*floor(i0/8) <= -8 + m and e4 >= 0 and -15 - i_t <= 8e4 < -i_t and 8e4 <= -9 + n);
                    [j_t, i_t, j_t2] -> keep4_z[i0] : exists (e4: (j_t) mod 512 = 0 and (i_t) mod 8 = 0 and (j_t2) mod 8 = 0 and j_t2 <= -8 + m and i0 >= j_t and i0 >= j_t2 and 0 <= i0 <= 7 + j_t2 and i0 <= 511 + j_t and 8*floor(i0/8) <= -8 + m and e4 >= 0 and -15 - i_t <= 8e4 < -i_t and 8e4 <= -9 + n) }
                  sequence
                    filter { fill3_z[i0] }
                      band[c] for(x0) permutable point { fill3_z[i0] -> [i0] }
                    filter { S1[j, i] }
                      band[-cc] for(i, j, j) register vector(2) lanes(-, -, 4) { S1[j, i] -> [(-i) mod 8, floor(j/4) - 2*floor(j/8), (j) mod 4] }
                    filter { keep4_z[i0] }
                      band[c] for(x0) permutable point { keep4_z[i0] -> [i0] }
          filter { S1[j, i = 0] : 8*floor((-1 - m)/8) <= -9 - j }
            band[-c] for(i, j) point(1) { S1[j, i] -> [0, j] }
          filter { S1[j, i] : 8*floor((-1 - m)/8) >= -8 - j }
            band[-c] for(i, j) point(1) { S1[j, i] -> [-i, j] }
says
jammed: S0 adds up 8 sums at once into registers, in the order of each cell of y
jammed: S1 adds up 8 x 8 values at once into registers, in the order of each cell of z
*/
