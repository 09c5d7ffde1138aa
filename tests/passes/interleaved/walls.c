/* Sweeps of a relaxation with walls on both sides, which keep it from tiles over time: strips of rows. */
void walls(int steps, int n, int m, double w, double f[n][m], double p[n][m])
{
#pragma scop
    for (int s = 0; s < steps; s++) {
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < m - 1; i++) {
                double near = p[j][i - 1] + p[j][i + 1] + p[j - 1][i] + p[j + 1][i];
                p[j][i] += w * (near / 4.5 - f[j][i] - p[j][i]);
            }
        for (int j = 1; j < n - 1; j++)
            p[j][0] = p[j][m - 1] = 0.5;
    }
#pragma endscop
}
/* interleave()
domain
  band[-] for(s) { S0[s, j, i] -> [s]; S1[s, j, i] -> [s]; S2[s, j] -> [s] }
    sequence
      filter { S0[s, j, i]; S1[s, j, i] }
        band[-] for(j) { S0[s, j, i] -> [j]; S1[s, j, i] -> [j] }
          band[-] for(i) { S0[s, j, i] -> [i]; S1[s, j, i] -> [i] }
            sequence
              filter { S0[s, j, i] }
              filter { S1[s, j, i] }
      filter { S2[s, j] }
        band[c] for(j) permutable { S2[s, j] -> [j] }
becomes
domain
  band[-] for(s) { S0[s, j, i] -> [s]; S1[s, j, i] -> [s]; S2[s, j] -> [s] }
    sequence
      filter { S0[s, j, i]; S1[s, j, i] }
        band[-] for(j) tile(8) { S0[s, j, i] -> [j - (j) mod 8]; S1[s, j, i] -> [j - (j) mod 8] }
          band[-] for(i) { S0[s, j, i] -> [j + i]; S1[s, j, i] -> [j + i] }
            band[-] for(j) point { S0[s, j, i] -> [j]; S1[s, j, i] -> [j] }
              sequence
                filter { S0[s, j, i] }
                filter { S1[s, j, i] }
      filter { S2[s, j] }
        band[c] for(j) permutable { S2[s, j] -> [j] }
says
interleaved: S0, S1: 8 iterations of j at once, each 1 behind the one before, since an element waits 33 cycles for others, and takes 4.5
*/
