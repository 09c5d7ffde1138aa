/* The last row first, and in each row the columns from the right, which come from earlier rows. */
void f(int n, double U[n][n], double x[n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        for (int j = n - 1; j > i; j--)
            x[i] -= U[i][j] * x[j];
        x[i] = x[i] / U[i][i];
    }
#pragma endscop
}
/* rowblocks()
domain
  band[-] for(i) { S0[i, j] -> [-j]; S1[i] -> [-i] }
    sequence
      filter { S1[i] }
      filter { S0[i, j] }
        band[c] for(i) permutable { S0[i, j] -> [i] }
becomes
domain
  mark "group" text("S0, S1 in blocks of 64 and 8 rows")
    band[-] for(i) tile(64) line(5) { S0[i, j] -> [-i - (-i) mod 64]; S1[i] -> [-i - (-i) mod 64] }
      sequence
        filter { S0[i, j] : 64*floor((-i)/64) > -j }
          band[c-] for(i, j) line(5, 6) { S0[i, j] -> [-i, -j] }
        filter { S0[i, j] : 64*floor((-i)/64) <= -j; S1[i] }
          band[-] for(i) tile(8) line(5) { S0[i, j] -> [-i - (-i) mod 8]; S1[i] -> [-i - (-i) mod 8] }
            sequence
              filter { S0[i, j] : 8*floor((-i)/8) > -j }
                band[c-] for(i, j) line(5, 6) { S0[i, j] -> [-i, -j] }
              filter { S0[i, j] : 8*floor((-i)/8) <= -j; S1[i] }
                band[-] for(i) line(5) { S0[i, j] -> [-i]; S1[i] -> [-i] }
                  sequence
                    filter { S0[i, j] }
                      band[-] for(j) line(6) { S0[i, j] -> [-j] }
                    filter { S1[i] }
says
row-blocks: S0, S1 in blocks of 64 and 8 rows: what S0 takes from earlier blocks comes first, and its rows are independent there
*/
