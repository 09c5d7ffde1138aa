/* A matrix that is written, and one that is read once. */
void steps(int n, int m, int steps, double A[n][m], double B[n][m], double x[m], double y[n], double z[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                y[i] += A[i][j] * x[j];
        A[0][t % 2] = y[0];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            z[i] += B[i][j] * y[j];
#pragma endscop
}
/* pack()
domain
  sequence
    filter { S0[t, i, j]; S1[t] }
      band[-] for(t) { S0[t, i, j] -> [t]; S1[t] -> [t] }
        sequence
          filter { S0[t, i, j] }
            band[c-] for(i, j) { S0[t, i, j] -> [i, j] }
          filter { S1[t] }
    filter { S2[i, j] }
      band[c-] for(i, j) { S2[i, j] -> [i, j] }
stays
*/
