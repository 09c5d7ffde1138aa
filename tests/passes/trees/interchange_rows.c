/* Points of a grid with five values each: the loop along a row goes inside of the one that leaps over planes; not where
   it carries a sum, nor below a loop that has to stay outside. */
void points(int n, double u[n][n][n][5], double v[n][n][n][5], double s[n][n][5])
{
#pragma scop
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 1; i < n; i++)
                for (int m = 0; m < 5; m++)
                    u[i][j][k][m] = v[i][j][k][m] - v[i - 1][j][k][m];
    for (int j = 1; j < n; j++)
        for (int k = 1; k < n; k++)
            for (int i = 1; i < n; i++)
                v[i][j][k][0] = v[i][j][k - 1][0] + v[i - 1][j][k][1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                s[i][j][0] += u[i][j][k][0];
#pragma endscop
}
/* interchange()
domain
  sequence
    filter { S0[j, k, i, m] }
      band[cccc] for(j, k, i, m) permutable { S0[j, k, i, m] -> [j, k, i, m] }
    filter { S1[j, k, i] }
      band[cc-] for(j, i, k) permutable { S1[j, k, i] -> [j, i, k] }
    filter { S2[i, j, k] }
      band[cc-] for(i, j, k) permutable { S2[i, j, k] -> [i, j, k] }
becomes
domain
  sequence
    filter { S0[j, k, i, m] }
      band[cccc] for(j, i, k, m) permutable { S0[j, k, i, m] -> [j, i, k, m] }
    filter { S1[j, k, i] }
      band[cc-] for(j, i, k) permutable { S1[j, k, i] -> [j, i, k] }
    filter { S2[i, j, k] }
      band[cc-] for(i, j, k) permutable { S2[i, j, k] -> [i, j, k] }
says
interchanged: S0: the loop k stands inside: its steps stay in a line of the cache
*/
