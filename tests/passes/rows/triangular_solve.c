/* Rows of a block take what earlier rows give at once; the triangle of a block comes after it. */
void f(int n, double L[n][n], double x[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}
/* rowblocks()
domain
  sequence
    filter { S0[i] }
      band[c] for(i) permutable { S0[i] -> [i] }
    filter { S1[i, j]; S2[i] }
      band[-] for(i) { S1[i, j] -> [j]; S2[i] -> [i] }
        sequence
          filter { S2[i] }
          filter { S1[i, j] }
            band[c] for(i) permutable { S1[i, j] -> [i] }
becomes
domain
  sequence
    filter { S0[i] }
      band[c] for(i) permutable { S0[i] -> [i] }
    filter { S1[i, j]; S2[i] }
      mark "group" text("S1, S2 in blocks of 64 and 8 rows")
        band[-] for(i) tile(64) line(5) { S1[i, j] -> [i - (i) mod 64]; S2[i] -> [i - (i) mod 64] }
          sequence
            filter { S1[i, j] : 64*floor(i/64) > j }
              band[c-] for(i, j) line(5, 7) { S1[i, j] -> [i, j] }
            filter { S1[i, j] : 64*floor(i/64) <= j; S2[i] }
              band[-] for(i) tile(8) line(5) { S1[i, j] -> [i - (i) mod 8]; S2[i] -> [i - (i) mod 8] }
                sequence
                  filter { S1[i, j] : 8*floor(i/8) > j }
                    band[c-] for(i, j) line(5, 7) { S1[i, j] -> [i, j] }
                  filter { S1[i, j] : 8*floor(i/8) <= j; S2[i] }
                    band[-] for(i) line(5) { S1[i, j] -> [i]; S2[i] -> [i] }
                      sequence
                        filter { S1[i, j] }
                          band[-] for(j) line(7) { S1[i, j] -> [j] }
                        filter { S2[i] }
says
row-blocks: S1, S2 in blocks of 64 and 8 rows: what S1 takes from earlier blocks comes first, and its rows are independent there
*/
