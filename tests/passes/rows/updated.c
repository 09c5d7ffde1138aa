/* The array is changed first: all dependences stay in a column, so that threads take columns. */
void f(int n, double A[n][n], double u[n], double v[n], double x[n], double y[n], double w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = A[i][j] + u[i] * v[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] = x[i] + A[j][i] * y[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] = w[i] + A[i][j] * x[j];
#pragma endscop
}
/* rowblocks()
domain
  sequence
    filter { S0[i, j] }
      band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
    filter { S1[i, j] }
      band[c-] for(i, j) permutable { S1[i, j] -> [i, j] }
    filter { S2[i, j] }
      band[c-] for(i, j) permutable { S2[i, j] -> [i, j] }
becomes
domain
  sequence
    filter { S0[i, j]; S1[i, j] }
      mark "group" text("S0, S1 in blocks of 32 rows of A")
        band[c] for(i) permutable tile(512) { S0[i, j] -> [j - (j) mod 512]; S1[i, j] -> [i - (i) mod 512] }
          band[-] for(j) tile(32) { S0[i, j] -> [i - (i) mod 32]; S1[i, j] -> [j - (j) mod 32] }
            sequence
              filter { S0[i, j] }
                band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
              filter { S1[i, j] }
                band[c-] for(i, j) permutable { S1[i, j] -> [i, j] }
    filter { S2[i, j] }
      band[c-] for(i, j) permutable { S2[i, j] -> [i, j] }
says
row-blocks: S0, S1 in blocks of 32 rows of A: what one of them has read is in a cache for the next one
*/
