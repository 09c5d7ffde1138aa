/* What a tile keeps of q is read and written down its columns: its rows are stored as columns. */
void turned(int n, double u[n][n], double v[n][n])
{
    double q[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            q[i][j] = u[j][i] + u[j - 1][i];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            v[j][i] = 0.5 * v[j - 1][i] + q[i][j];
#pragma endscop
}
/* vectorize()
buffer q_tile tile array(q) extents(8, 64) corner({ [it, jt] -> q[it, jt] }) accesses(S0.r2, S1.r1)
domain
  band[c-] for(i, j) permutable tile(8, 64) { S0[i, j] -> [i - i mod 8, j - j mod 64];
                                              S1[i, j] -> [i - i mod 8, j - j mod 64] }
    mark "allocate" names(q_tile)
      sequence
        filter { S0[i, j] }
          band[cc] for(i, j) permutable point { S0[i, j] -> [i, j] }
        filter { S1[i, j] }
          band[c-] for(i, j) permutable point { S1[i, j] -> [i, j] }
becomes
buffer q_tile tile array(q) extents(8, 64) corner({ [it, jt] -> q[(it), (jt)] }) order(1, 0) accesses(S0.r2, S1.r1)
domain
  band[c-] for(i, j) permutable tile(8, 64) { S0[i, j] -> [i - (i) mod 8, j - (j) mod 64];
                                              S1[i, j] -> [i - (i) mod 8, j - (j) mod 64] }
    mark "allocate" names(q_tile)
      sequence
        filter { S0[i, j] }
          band[c] for(j) permutable point { S0[i, j] -> [j] }
            band[c] for(i) permutable point { S0[i, j] -> [i] }
        filter { S1[i, j] }
          band[-] for(j) permutable point { S1[i, j] -> [j] }
            band[c] for(i) permutable point { S1[i, j] -> [i] }
says
turned: q_tile lies in the tile with another dimension innermost: vector loops run along it
*/
