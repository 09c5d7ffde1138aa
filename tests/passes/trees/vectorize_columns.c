/* A loop along memory outside of one that carries a sum, and one outside of a scan: both go innermost. */
void columns(int n, double A[n][n], double x[n], double y[n], double T[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i] += A[j][i] * x[j];
    for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++)
            T[i][j] = T[i - 1][j] + A[i][j];
#pragma endscop
}
/* vectorize()
domain
  sequence
    filter { S0[i, j] }
      band[c] for(i) { S0[i, j] -> [i] }
        band[-] for(j) { S0[i, j] -> [j] }
    filter { S1[j, i] }
      band[c-] for(j, i) permutable { S1[j, i] -> [j, i] }
becomes
domain
  sequence
    filter { S0[i, j] }
      band[-] for(j) { S0[i, j] -> [j] }
        band[c] for(i) permutable { S0[i, j] -> [i] }
    filter { S1[j, i] }
      band[-] for(i) permutable { S1[j, i] -> [i] }
        band[c] for(j) permutable { S1[j, i] -> [j] }
*/
