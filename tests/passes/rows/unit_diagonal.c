/* A solve without a division is one statement. */
void f(int n, double L[n][n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
#pragma endscop
}
/* rowblocks()
domain
  band[-] for(j) { S0[i, j] -> [j] }
    band[c] for(i) permutable { S0[i, j] -> [i] }
becomes
domain
  mark "group" text("S0 in blocks of 64 and 8 rows")
    band[-] for(i) tile(64) line(5) { S0[i, j] -> [i - (i) mod 64] }
      sequence
        filter { S0[i, j] : 64*floor(j/64) <= -64 + i }
          band[c-] for(i, j) line(5, 6) { S0[i, j] -> [i, j] }
        filter { S0[i, j] : 64*floor(j/64) >= -63 + i }
          band[-] for(i) tile(8) line(5) { S0[i, j] -> [i - (i) mod 8] }
            sequence
              filter { S0[i, j] : 8*floor(j/8) <= -8 + i }
                band[c-] for(i, j) line(5, 6) { S0[i, j] -> [i, j] }
              filter { S0[i, j] : 8*floor(j/8) >= -7 + i }
                band[-] for(i) line(5) { S0[i, j] -> [i] }
                  band[-] for(j) line(6) { S0[i, j] -> [j] }
says
row-blocks: S0 in blocks of 64 and 8 rows: what S0 takes from earlier blocks comes first, and its rows are independent there
*/
