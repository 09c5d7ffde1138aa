/* Rows of a triangle: what is no whole block of rows is added after it. */
void f(int n, double L[n][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            y[i] -= L[i][j] * x[j];
#pragma endscop
}
/* jam()
domain
  band[c] for(i) permutable { S0[i, j] -> [i] }
    band[-] for(j) permutable { S0[i, j] -> [j] }
becomes
buffer y_sum tile array(y) extents(8) corner({ [i0, i1] -> y[(i1)] }) order(0) accesses(S0.r2, fill1_y.inside, keep2_y.inside)
domain
  band[c] for(i) permutable tile(64) { S0[i, j] -> [i - (i) mod 64] }
    band[c] for(i) permutable tile(8) { S0[i, j] -> [i - (i) mod 8] }
      sequence
        filter { S0[i, j] : 8*floor(i/8) >= j and 8*floor(i/8) <= -8 + n }
          mark "allocate" names(y_sum)
            extension {
                [i_t, i_t2] -> fill1_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n;
                [i_t, i_t2] -> keep2_y[i0] : (i_t) mod 64 = 0 and (i_t2) mod 8 = 0 and i0 >= i_t and i0 >= i_t2 and 0 <= i0 <= 7 + i_t2 and i0 <= 63 + i_t and 8*floor(i0/8) <= -8 + n }
              sequence
                filter { fill1_y[i0] }
                  band[c] for(x0) permutable point { fill1_y[i0] -> [i0] }
                filter { S0[i, j] }
                  band[-] for(j) { S0[i, j] -> [j] }
                    band[c] for(i) permutable register { S0[i, j] -> [(i) mod 8] }
                filter { keep2_y[i0] }
                  band[c] for(x0) permutable point { keep2_y[i0] -> [i0] }
        filter { S0[i, j] : (8*floor(i/8) < j) or (8*floor(i/8) >= -7 + n and 8*floor(i/8) >= j) }
          band[c-] for(i, j) point(0) { S0[i, j] -> [i, j] }
says
jammed: S0 adds up 8 sums at once into registers, in the order of each cell of y
*/
