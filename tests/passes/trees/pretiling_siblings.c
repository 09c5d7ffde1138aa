/* What was written in one loop stays in one, though a part of it reads what a loop before has made. */
void parts(int n, int m, double f[restrict n][m], double r[restrict n][m], double s[restrict n][m], double u[restrict n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int k = 1; k < m - 1; k++)
            r[i][k] = f[i][k + 1] - f[i][k - 1];
        for (int k = 1; k < m; k++)
            f[i][k] = u[i][k] - u[i][k - 1];
        for (int k = 1; k < m - 1; k++) {
            r[i][k] += 0.5 * u[i][k];
            s[i][k] = f[i][k + 1] - u[i][k];
        }
    }
#pragma endscop
}
/* pretiling()
domain
  sequence
    filter { S0[i, k] }
      band[cc] for(i, k) permutable { S0[i, k] -> [i, k] }
    filter { S1[i, k] }
      band[cc] for(i, k) permutable { S1[i, k] -> [i, k] }
    filter { S2[i, k] }
      band[cc] for(i, k) permutable { S2[i, k] -> [i, k] }
    filter { S3[i, k] }
      band[cc] for(i, k) permutable { S3[i, k] -> [i, k] }
becomes
domain
  sequence
    filter { S0[i, k] }
      band[cc] for(i, k) permutable { S0[i, k] -> [i, k] }
    filter { S1[i, k] }
      band[cc] for(i, k) permutable { S1[i, k] -> [i, k] }
    filter { S2[i, k]; S3[i, k] }
      band[cc] for(i, k) permutable { S2[i, k] -> [i, k]; S3[i, k] -> [i, k] }
        sequence
          filter { S2[i, k] }
          filter { S3[i, k] }
says
pretiling-fused: S2, S3 share their 2 outer loops: each iteration of them reads the same cells
*/
