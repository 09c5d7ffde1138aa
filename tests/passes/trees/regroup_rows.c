/* Loops in the same loop over rows: they share it again. Not a loop over rows of its own, nor a sum along the row. */
void fluxes(int n, int m, double f[restrict n][m], double r[restrict n][m], double u[restrict n][m], double t[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++)
            f[i][k] = u[i][k] * u[i][k];
        for (int k = 1; k < m - 1; k++)
            r[i][k] -= f[i][k + 1] - f[i][k - 1];
    }
    for (int i = 0; i < n; i++)
        for (int k = 1; k < m - 1; k++)
            u[i][k] = f[i][k + 1];
    for (int i = 0; i < n; i++) {
        for (int k = 1; k < m - 1; k++)
            f[i][k] = r[i][k + 1];
        for (int k = 0; k < m; k++)
            t[i] += f[i][k];
    }
#pragma endscop
}
/* regroup()
domain
  sequence
    filter { S0[i, k] }
      band[cc] for(i, k) permutable { S0[i, k] -> [i, k] }
    filter { S1[i, k]; S2[i, k] }
      band[cc] for(i, k) permutable { S1[i, k] -> [i, k]; S2[i, k] -> [i, k] }
        sequence
          filter { S1[i, k] }
          filter { S2[i, k] }
    filter { S3[i, k] }
      band[cc] for(i, k) permutable { S3[i, k] -> [i, k] }
    filter { S4[i, k] }
      band[c-] for(i, k) permutable { S4[i, k] -> [i, k] }
becomes
domain
  sequence
    filter { S0[i, k]; S1[i, k]; S2[i, k] }
      band[c] for(i) permutable { S0[i, k] -> [i]; S1[i, k] -> [i]; S2[i, k] -> [i] }
        sequence
          filter { S0[i, k] }
            band[c] for(k) permutable { S0[i, k] -> [k] }
          filter { S1[i, k]; S2[i, k] }
            band[c] for(k) permutable { S1[i, k] -> [k]; S2[i, k] -> [k] }
              sequence
                filter { S1[i, k] }
                filter { S2[i, k] }
    filter { S3[i, k] }
      band[cc] for(i, k) permutable { S3[i, k] -> [i, k] }
    filter { S4[i, k] }
      band[c-] for(i, k) permutable { S4[i, k] -> [i, k] }
says
regrouped: S0, S1, S2 share the outer loop in which they were written: the caches keep what passes on
*/
