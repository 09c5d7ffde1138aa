/* Each element from the one before it and the one above, as in an alignment, in tiles of rows. */
void scores(int n, int m, double B[n][m], double A[n][m])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            A[i][j] = B[i][j] * A[i][j - 1] / (A[i - 1][j] + 2.0);
#pragma endscop
}
/* interleave()
domain
  mark "group" text("S0 in skewed tiles of 64 steps x 1024 cells")
    mark "tiles" region({ [wave, second, time] : m >= 2 and n >= 2 and 0 <= second <= wave and 64second < n and 1024second > -m + 1024wave and time >= 64second and 0 < time <= 63 + 64second and time < n })
      band[-c-] for(wave, i, i) tile(1024, 64, -) point line(-, -, 5) { S0[i, j] -> [floor(i/64) + floor(j/1024), floor(i/64), i] }
        band[-] for(j) point line(6) { S0[i, j] -> [j] }
becomes
domain
  mark "group" text("S0 in skewed tiles of 64 steps x 1024 cells")
    mark "tiles" region({ [wave, second, time] : (time) mod 8 = 0 and m >= 2 and n >= 2 and 0 <= second <= wave and 64second < n and 1024second > -m + 1024wave and time >= -7 + 64second and -6 <= time <= 63 + 64second and time < n })
      band[-c-] for(wave, i, i) tile(1024, 64, 8) line(-, -, 5) { S0[i, j] -> [floor(i/64) + floor(j/1024), floor(i/64), i - (i) mod 8] }
        band[-] for(j) point line(6) { S0[i, j] -> [i + j] }
          band[-] for(i) point line(5) { S0[i, j] -> [i] }
says
interleaved: S0: 8 iterations of i at once, each 1 behind the one before, since an element waits 17 cycles for others, and takes 4.5
*/
