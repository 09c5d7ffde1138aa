/* Loops on data and loops inside of them: which element of a cell they add to is theirs, which cell is not. */
void inside(int n, int m, const int b[n], const float in[n][m], float h[n / 8 + 1][4])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int k = b[i] & 3;
            while (k < 4) {
                for (int d = 0; d < 4; d++)
                    h[i / 8][d] += in[i][j];
                k++;
            }
        }
#pragma endscop
}
/* schedule()
domain
  band[-] for(i) line(5) { S0[i, j] -> [i]; S1[i, j] -> [i] }
    band[-] for(j) line(6) { S0[i, j] -> [j]; S1[i, j] -> [j] }
      sequence
        filter { S0[i, j] }
        filter { S1[i, j] }
becomes
domain
  band[c] for(cell) permutable { S0[i, j] -> [floor(i/8)]; S1[i, j] -> [floor(i/8)] }
    band[-] for(i) { S0[i, j] -> [i]; S1[i, j] -> [i] }
      band[-] for(j) { S0[i, j] -> [j]; S1[i, j] -> [j] }
        sequence
          filter { S0[i, j] }
          filter { S1[i, j] }
says
cells: S0, S1 run cell by cell along dimension 1 of h: iterations that go to different cells there are independent
*/
