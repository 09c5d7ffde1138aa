void f(int n, int m, const float in[n][m], float grid[n / 8 + 2][m / 8 + 2][16])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int z = (int)in[y][x] & 15;
            grid[(y + 4) / 8 + 1][(x + 4) / 8][z] += in[y][x];
        }
#pragma endscop
}
/* schedule()
domain
  band[-] for(y) line(4) { S0[y, x] -> [y]; S1[y, x] -> [y] }
    band[-] for(x) line(5) { S0[y, x] -> [x]; S1[y, x] -> [x] }
      sequence
        filter { S0[y, x] }
        filter { S1[y, x] }
becomes
domain
  band[c] for(cell) permutable { S0[y, x] -> [1 + floor((4 + y)/8)]; S1[y, x] -> [1 + floor((4 + y)/8)] }
    band[-] for(y) { S0[y, x] -> [y]; S1[y, x] -> [y] }
      band[-] for(x) { S0[y, x] -> [x]; S1[y, x] -> [x] }
        sequence
          filter { S0[y, x] }
          filter { S1[y, x] }
says
cells: S0, S1 run cell by cell along dimension 1 of grid: iterations that go to different cells there are independent
*/
