/* An upwind difference reads beyond the first and the last row, where the data say so: these rows have loops of their own. */
void upwind(int n, double u[n][n], double v[n][n], double f[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            f[i][j] = u[i][j] + (v[i][j] > 0 ? u[i][j] - u[i - 1][j] : u[i + 1][j] - u[i][j]);
#pragma endscop
}
/* edges()
domain
  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
becomes
domain
  sequence
    filter { S0[i, j] : 2 <= i <= -3 + n }
      band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
    filter { S0[i = 1, j]; S0[i = -2 + n, j] }
      band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
says
edges-apart: S0: the edges, where a choice may read what is not there, have loops of their own
*/
