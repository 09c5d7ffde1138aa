/* What is left over of each plane is added before the next one. */
void f(int n, double A[n][3][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < i; k++)
                y[i] += A[i][j][k] * x[k];
#pragma endscop
}
/* jam()
domain
  band[c] for(i) permutable { S0[i, j, k] -> [i] }
    band[-] for(j) permutable { S0[i, j, k] -> [j] }
      band[-] for(k) permutable { S0[i, j, k] -> [k] }
becomes
buffer y_sum tile array(y) extents(8) corner({ [i0, i1, i2] -> y[(i1)] }) order(0) accesses(S0.r2, fill1_y.inside, keep2_y.inside)
domain
  band[c] for(i) permutable tile(64) { S0[i, j, k] -> [i - (i) mod 64] }
    band[c] for(i) permutable tile(8) { S0[i, j, k] -> [i - (i) mod 8] }
      band[-] for(j) { S0[i, j, k] -> [j] }
        sequence
          filter { S0[i, j, k] : 8*floor(i/8) > k and 8*floor(i/8) <= -8 + n }
            mark "allocate" names(y_sum)
              extension {
                  [i_t, i_t2, j_o] -> fill1_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and 0 <= j_o <= 2 and i0 >= i_t and i0 >= i_t2 and 8 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n;
                  [i_t, i_t2, j_o] -> keep2_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and 0 <= j_o <= 2 and i0 >= i_t and i0 >= i_t2 and 8 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n }
                sequence
                  filter { fill1_y[i0] }
                    band[c] for(x0) permutable point { fill1_y[i0] -> [i0] }
                  filter { S0[i, j, k] }
                    band[-] for(k) { S0[i, j, k] -> [k] }
                      band[c] for(i) permutable register { S0[i, j, k] -> [(i) mod 8] }
                  filter { keep2_y[i0] }
                    band[c] for(x0) permutable point { keep2_y[i0] -> [i0] }
          filter { S0[i, j, k] : (8*floor(i/8) <= k) or (8*floor(i/8) >= -7 + n and 8*floor(i/8) > k) }
            band[c-] for(i, k) point(0) { S0[i, j, k] -> [i, k] }
says
jammed: S0 adds up 8 sums at once into registers, in the order of each cell of y
*/
