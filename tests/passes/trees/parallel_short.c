/* Three planes in tiles of eight are one iteration: rows run in parallel. Planes of pixels are no vectors. Steps around
   a loop start its threads again and again: that has to pay. */
void short_(int n, float in[n][n][3], float out[n][n][3], float t[50], float a[100])
{
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                out[i][j][c] = in[i][j][c] * 0.5f;
    for (int s = 0; s < 50; s++)
        for (int i = 0; i < 100; i++)
            for (int k = 0; k < 2; k++)
                a[i] += t[s] * k;
#pragma endscop
}
/* parallel()
domain
  sequence
    filter { S0[c, i, j] }
      band[cc] for(c, i) permutable tile(8, 8) { S0[c, i, j] -> [c - c mod 8, i - i mod 8] }
        band[ccc] for(i, j, c) permutable point { S0[c, i, j] -> [i, j, c] }
    filter { S1[s, i, k] }
      band[-c] for(s, i) permutable { S1[s, i, k] -> [s, i] }
        band[-] for(k) { S1[s, i, k] -> [k] }
becomes
domain
  sequence
    filter { S0[c, i, j] }
      band[cc] for(c, i) permutable tile(8, 8) parallel(1) { S0[c, i, j] -> [0, i - (i) mod 8] }
        band[ccc] for(i, j, c) permutable point vector(2) { S0[c, i, j] -> [i, j, c] }
    filter { S1[s, i, k] }
      band[-c] for(s, i) permutable { S1[s, i, k] -> [s, i] }
        band[-] for(k) { S1[s, i, k] -> [k] }
says
small-region: S1 not parallel: threads for the loop over i would save 0.0 us of each iteration around it, and take 3.0 us to start
*/
