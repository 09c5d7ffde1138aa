/* y = A'(A x): the second sum of a row needs the first one, and reads the same row. */
void f(int n, int m, double A[m][n], double x[n], double y[n], double t[m])
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0.0;
    for (int i = 0; i < m; i++) {
        t[i] = 0.0;
        for (int j = 0; j < n; j++)
            t[i] = t[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * t[i];
    }
#pragma endscop
}
/* rowblocks()
domain
  sequence
    filter { S0[j] }
      band[c] for(j) permutable { S0[j] -> [j] }
    filter { S1[i] }
      band[c] for(i) permutable { S1[i] -> [i] }
    filter { S2[i, j] }
      band[c-] for(i, j) permutable { S2[i, j] -> [i, j] }
    filter { S3[i, j] }
      band[c-] for(j, i) permutable { S3[i, j] -> [j, i] }
becomes
domain
  sequence
    filter { S0[j] }
      band[c] for(j) permutable { S0[j] -> [j] }
    filter { S1[i] }
      band[c] for(i) permutable { S1[i] -> [i] }
    filter { S2[i, j]; S3[i, j] }
      mark "group" text("S2, S3 in blocks of 64 rows of A")
        band[-] for(i) tile(64) { S2[i, j] -> [i - (i) mod 64]; S3[i, j] -> [i - (i) mod 64] }
          sequence
            filter { S2[i, j] }
              band[c-] for(i, j) permutable { S2[i, j] -> [i, j] }
            filter { S3[i, j] }
              band[c-] for(j, i) permutable { S3[i, j] -> [j, i] }
says
row-blocks: S2, S3 in blocks of 64 rows of A: what one of them has read is in a cache for the next one
*/
