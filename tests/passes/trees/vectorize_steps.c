/* Three statements in one nest: the loop over columns goes into each step, and in the second one below the sum. */
void steps(int n, int m, double in[n][m], double out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            out[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                out[i][j] += in[k][j];
            out[i][j] = out[i][j] > 0.0 ? out[i][j] : 0.0;
        }
#pragma endscop
}
/* vectorize()
domain
  band[cc] for(i, j) permutable point { S0[i, j] -> [i, j]; S1[i, j, k] -> [i, j]; S2[i, j] -> [i, j] }
    sequence
      filter { S0[i, j] }
      filter { S1[i, j, k] }
        band[-] for(k) { S1[i, j, k] -> [k] }
      filter { S2[i, j] }
becomes
domain
  band[c] for(i) permutable point { S0[i, j] -> [i]; S1[i, j, k] -> [i]; S2[i, j] -> [i] }
    sequence
      filter { S0[i, j] }
        band[c] for(j) permutable point { S0[i, j] -> [j] }
      filter { S1[i, j, k] }
        band[-] for(k) { S1[i, j, k] -> [k] }
          band[c] for(j) permutable point { S1[i, j, k] -> [j] }
      filter { S2[i, j] }
        band[c] for(j) permutable point { S2[i, j] -> [j] }
*/
