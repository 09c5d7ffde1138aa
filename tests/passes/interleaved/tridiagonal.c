/* Elimination along the rows, and back. */
void tridiagonal(int n, int m, double d, double p[n][m], double q[n][m], double u[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p[i][0] = 0.0;
        q[i][0] = u[i][0];
        for (int j = 1; j < m - 1; j++) {
            p[i][j] = -d / (d * p[i][j - 1] + 3.0);
            q[i][j] = (u[i][j] - d * q[i][j - 1]) / (d * p[i][j - 1] + 3.0);
        }
        for (int j = m - 2; j >= 1; j--)
            u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
#pragma endscop
}
/* interleave(assume="m >= 4")
domain
  sequence
    filter { S3[i, j] }
      mark "group" text("S3 in tiles of 16 x 32\nS0 computed in the tile that needs it\nS1 computed in the tile that needs it\nS2 computed in the tile that needs it")
        band[c] for(i) permutable tile(16) { S3[i, j] -> [i - (i) mod 16] }
          extension { [i_t] -> S0[i] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t;
                      [i_t] -> S1[i] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t;
                      [i_t] -> S2[i, j] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t }
            sequence
              filter { S0[i] }
                band[c] for(i) permutable { S0[i] -> [i] }
              filter { S1[i] }
                band[c] for(i) permutable { S1[i] -> [i] }
              filter { S2[i, j] }
                band[c-] for(i, j) permutable { S2[i, j] -> [i, j] }
              filter { S3[i, j] }
                band[-] for(j) permutable tile(32) { S3[i, j] -> [j - (j) mod 32] }
                  band[c-] for(i, j) permutable point { S3[i, j] -> [i, j] }
    filter { S4[i, j] }
      band[c-] for(i, j) permutable { S4[i, j] -> [i, -j] }
becomes
domain
  sequence
    filter { S3[i, j] }
      mark "group" text("S3 in tiles of 16 x 32\nS0 computed in the tile that needs it\nS1 computed in the tile that needs it\nS2 computed in the tile that needs it")
        band[c] for(i) permutable tile(16) { S3[i, j] -> [i - (i) mod 16] }
          extension { [i_t] -> S0[i] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t;
                      [i_t] -> S1[i] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t;
                      [i_t] -> S2[i, j] : (i_t) mod 16 = 0 and m >= 4 and i_t <= i <= 15 + i_t }
            sequence
              filter { S0[i] }
                band[c] for(i) permutable { S0[i] -> [i] }
              filter { S1[i] }
                band[c] for(i) permutable { S1[i] -> [i] }
              filter { S2[i, j] }
                band[-] for(j) permutable { S2[i, j] -> [j] }
                  band[c] for(i) permutable point { S2[i, j] -> [i] }
              filter { S3[i, j] }
                band[-] for(j) permutable tile(32) { S3[i, j] -> [j - (j) mod 32] }
                  band[-] for(j) permutable point { S3[i, j] -> [j] }
                    band[c] for(i) permutable point { S3[i, j] -> [i] }
    filter { S4[i, j] }
      band[c-] for(i, j) permutable tile(8, -) { S4[i, j] -> [i - (i) mod 8, -j] }
        band[c] for(i) permutable point { S4[i, j] -> [i] }
says
interleaved: S2: 8 iterations of i at once, since an element waits 17 cycles for the one before it, and takes 3.8
interleaved: S3: 8 iterations of i at once, since an element waits 17 cycles for the one before it, and takes 5.0
interleaved: S4: 8 iterations of i at once, since an element waits 4 cycles for the one before it, and takes 2.2
*/
