/* intervals, as Nussinov's algorithm has them: the best of all ways to cut one in two */
void fold(int n, int s[n], int t[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            t[i][j] = t[i][j] >= t[i][j - 1] ? t[i][j] : t[i][j - 1];
            t[i][j] = t[i][j] >= t[i + 1][j - 1] + (s[i] + s[j] == 3 ? 1 : 0)
                          ? t[i][j]
                          : t[i + 1][j - 1] + (s[i] + s[j] == 3 ? 1 : 0);
            for (int k = i + 1; k < j; k++)
                t[i][j] = t[i][j] >= t[i][k] + t[k + 1][j] ? t[i][j] : t[i][k] + t[k + 1][j];
        }
#pragma endscop
}
/* orders()
domain
  band[-] for(i_j) { S0[i, j] -> [-i + j]; S1[i, j] -> [-i + j]; S2[i, j, k] -> [-i + j] }
    sequence
      filter { S0[i, j]; S1[i, j] }
        band[c] for(i) permutable { S0[i, j] -> [i]; S1[i, j] -> [i] }
          sequence
            filter { S0[i, j] }
            filter { S1[i, j] }
      filter { S2[i, j, k] }
        band[c-] for(i, k) permutable { S2[i, j, k] -> [i, k] }
becomes
domain
  mark "group" text("S0, S1, S2 in another order: S2 runs along j, along consecutive memory")
    band[-] for(i) line(5) { S0[i, j] -> [-i]; S1[i, j] -> [-i]; S2[i, j, k] -> [-i] }
      band[-] for(j) line(6) { S0[i, j] -> [j]; S1[i, j] -> [j]; S2[i, j, k] -> [k] }
        sequence
          filter { S0[i, j] }
          filter { S1[i, j] }
          filter { S2[i, j, k] }
            band[c] for(j) permutable line(6) { S2[i, j, k] -> [j] }
says
straightened: S0, S1, S2 in another order: S2 runs along j, along consecutive memory
*/
