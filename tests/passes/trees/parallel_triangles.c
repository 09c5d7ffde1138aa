/* Rows of a triangle take unequal time; a scan has its rows in vectors; a wavefront is too short for threads. */
void triangular(int n, double a[n][n], double s[n][n], double w[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            s[i][j] = a[i][j] + a[j][i];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i][j] = a[i][j] + a[i][j - 1];
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            w[i][j] = w[i - 1][j] + w[i][j - 1] + s[i][0];
#pragma endscop
}
/* parallel()
domain
  sequence
    filter { S0[i, j] }
      band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
    filter { S1[i, j] }
      band[c-] for(i, j) tile(8, -) { S1[i, j] -> [i - i mod 8, j] }
        band[c] for(i) point { S1[i, j] -> [i] }
    filter { S2[i, j] }
      band[-] for(i_j) { S2[i, j] -> [i + j] }
        band[c] for(i) { S2[i, j] -> [i] }
becomes
domain
  sequence
    filter { S0[i, j] }
      band[cc] for(i, j) permutable parallel(0) vector(1) uneven(0) worth(n * n > 44000, -) { S0[i, j] -> [i, j] }
    filter { S1[i, j] }
      band[c-] for(i, j) tile(8, -) parallel(0) worth({ [(n)] : n >= 2 } * { [(-1 + n)] : n >= 2 } > 88000 with { [(n)] : n >= 2 } > 8, -) { S1[i, j] -> [i - (i) mod 8, j] }
        band[c] for(i) point { S1[i, j] -> [i] }
    filter { S2[i, j] }
      band[-] for(i_j) { S2[i, j] -> [i + j] }
        band[c] for(i) vector(0) { S2[i, j] -> [i] }
*/
/* parallel(threads="always", target="c")
domain
  sequence
    filter { S0[i, j] }
      band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
    filter { S1[i, j] }
      band[-] for(j) { S1[i, j] -> [j] }
        band[c] for(i) { S1[i, j] -> [i] }
    filter { S2[i, j] }
      band[--] for(i, j) { S2[i, j] -> [i, j] }
becomes
domain
  sequence
    filter { S0[i, j] }
      band[cc] for(i, j) permutable parallel(0) vector(1) { S0[i, j] -> [i, j] }
    filter { S1[i, j] }
      band[-] for(j) { S1[i, j] -> [j] }
        band[c] for(i) vector(0) { S1[i, j] -> [i] }
    filter { S2[i, j] }
      band[--] for(i, j) { S2[i, j] -> [i, j] }
*/
