/* Two sums that have nothing in common but the array, the one by columns first. */
void f(int n, int m, float A[n][m], float x[n], float y[m], float s[m], float t[n])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i] += A[i][j] * y[j];
#pragma endscop
}
/* rowblocks()
domain
  sequence
    filter { S0[j, i] }
      band[c-] for(j, i) permutable { S0[j, i] -> [j, i] }
    filter { S1[i, j] }
      band[c-] for(i, j) permutable { S1[i, j] -> [i, j] }
becomes
domain
  mark "group" text("S0, S1 in blocks of 64 rows of A")
    band[-] for(i) tile(64) { S0[j, i] -> [i - (i) mod 64]; S1[i, j] -> [i - (i) mod 64] }
      sequence
        filter { S0[j, i] }
          band[c-] for(j, i) permutable { S0[j, i] -> [j, i] }
        filter { S1[i, j] }
          band[c-] for(i, j) permutable { S1[i, j] -> [i, j] }
says
row-blocks: S0, S1 in blocks of 64 rows of A: what one of them has read is in a cache for the next one
*/
