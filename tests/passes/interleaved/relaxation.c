/* Sweeps of a relaxation, each element after its left and its upper neighbour; in tiles over time. */
void relaxation(int steps, int n, int m, double w, double f[n][m], double p[n][m])
{
#pragma scop
    for (int s = 0; s < steps; s++) {
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < m - 1; i++) {
                double near = p[j][i - 1] + p[j][i + 1] + p[j - 1][i] + p[j + 1][i];
                p[j][i] += w * (near / 4.5 - f[j][i] - p[j][i]);
            }
        for (int j = 1; j < n - 1; j++)
            p[j][0] = p[j][1];
    }
#pragma endscop
}
/* interleave()
domain
  mark "group" text("S0, S1, S2 in skewed tiles of 8 steps x 8 cells")
    mark "tiles" region({ [wave, second, time] : m > 0 and n >= 3 and second >= 0 and 2second <= wave and 8second < steps and 16second >= -5 - n + 8wave and time >= 8second and 0 <= time <= 7 + 8second and time < steps })
      band[-c-] for(wave, s, s) tile(8, 8, -) point line(-, -, 5) {
          S0[s, j, i] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s];
          S1[s, j, i] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s];
          S2[s, j] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s] }
        sequence
          filter { S0[s, j, i]; S1[s, j, i] }
            band[-] for(j) point line(6) { S0[s, j, i] -> [j]; S1[s, j, i] -> [j] }
              band[-] for(i) point line(7) { S0[s, j, i] -> [i]; S1[s, j, i] -> [i] }
                sequence
                  filter { S0[s, j, i] }
                  filter { S1[s, j, i] }
          filter { S2[s, j] }
            band[c] for(j) point line(11) { S2[s, j] -> [j] }
becomes
domain
  mark "group" text("S0, S1, S2 in skewed tiles of 8 steps x 8 cells")
    mark "tiles" region({ [wave, second, time] : n >= 3 and m > 0 and second >= 0 and 2second <= wave and 16second >= -5 - n + 8wave and 8second <= time <= 7 + 8second and time < steps })
      band[-c-] for(wave, s, s) tile(8, 8, -) point line(-, -, 5) {
          S0[s, j, i] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s];
          S1[s, j, i] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s];
          S2[s, j] -> [floor(s/8) + floor((s + j)/8), floor(s/8), s] }
        sequence
          filter { S0[s, j, i]; S1[s, j, i] }
            band[-] for(i) point line(7) { S0[s, j, i] -> [j + i]; S1[s, j, i] -> [j + i] }
              band[-] for(j) point line(6) { S0[s, j, i] -> [j]; S1[s, j, i] -> [j] }
                sequence
                  filter { S0[s, j, i] }
                  filter { S1[s, j, i] }
          filter { S2[s, j] }
            band[c] for(j) point line(11) { S2[s, j] -> [j] }
says
interleaved: S0, S1: 8 iterations of j at once, each 1 behind the one before, since an element waits 33 cycles for others, and takes 4.5
*/
