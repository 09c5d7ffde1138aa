/* Sums of columns: a vector of them, and eight rows for each of its loads and stores. */
void f(int n, int m, float A[n][m], float x[n], float y[m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            y[j] += A[i][j] * x[i];
#pragma endscop
}
/* jam()
domain
  band[c] for(j) permutable { S0[j, i] -> [j] }
    band[-] for(i) permutable { S0[j, i] -> [i] }
becomes
buffer y_sum tile array(y) extents(16) corner({ [i0, i1, i2] -> y[(i2)] }) order(0) accesses(S0.r2, fill1_y.inside, keep2_y.inside)
domain
  band[c] for(j) permutable tile(512) { S0[j, i] -> [j - (j) mod 512] }
    sequence
      filter { S0[j, i] : 8*floor(i/8) <= -8 + n and 16*floor(j/16) <= -16 + m }
        band[-c] for(i, j) tile(8, 16) { S0[j, i] -> [i - (i) mod 8, j - (j) mod 16] }
          mark "allocate" names(y_sum)
            extension {
                [j_t, i_t, j_t2] -> fill1_y[i0] : (j_t) mod 512 = 0 and (i_t) mod 8 = 0 and (j_t2) mod 16 = 0 and n >= 8 and -7 <= i_t <= -8 + n and j_t2 <= -16 + m and i0 >= j_t and i0 >= j_t2 and 0 <= i0 <= 15 + j_t2 and i0 <= 511 + j_t and 16*floor(i0/16) <= -16 + m;
                [j_t, i_t, j_t2] -> keep2_y[i0] : (j_t) mod 512 = 0 and (i_t) mod 8 = 0 and (j_t2) mod 16 = 0 and n >= 8 and -7 <= i_t <= -8 + n and j_t2 <= -16 + m and i0 >= j_t and i0 >= j_t2 and 0 <= i0 <= 15 + j_t2 and i0 <= 511 + j_t and 16*floor(i0/16) <= -16 + m }
              sequence
                filter { fill1_y[i0] }
                  band[c] for(x0) permutable point { fill1_y[i0] -> [i0] }
                filter { S0[j, i] }
                  band[-cc] for(i, j, j) register vector(2) lanes(-, -, 8) { S0[j, i] -> [(i) mod 8, floor(j/8) - 2*floor(j/16), (j) mod 8] }
                filter { keep2_y[i0] }
                  band[c] for(x0) permutable point { keep2_y[i0] -> [i0] }
      filter { S0[j, i] : 16*floor((-1 - m)/16) <= -17 - j and 8*floor((-1 - n)/8) >= -8 - i }
        band[-c] for(i, j) point(1) { S0[j, i] -> [i, j] }
      filter { S0[j, i] : 16*floor((-1 - m)/16) >= -16 - j }
        band[-c] for(i, j) point(1) { S0[j, i] -> [i, j] }
says
jammed: S0 adds up 8 x 16 values at once into registers, in the order of each cell of y
*/
