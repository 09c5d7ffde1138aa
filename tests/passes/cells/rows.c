void f(int n, int m, const int key[n][m], int count[n / 4 + 1][32])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            count[i / 4][key[i][j] & 31]++;
#pragma endscop
}
/* schedule()
domain
  band[-] for(i) line(4) { S0[i, j] -> [i] }
    band[-] for(j) line(5) { S0[i, j] -> [j] }
becomes
domain
  band[c] for(cell) permutable { S0[i, j] -> [floor(i/4)] }
    band[-] for(i) { S0[i, j] -> [i] }
      band[-] for(j) { S0[i, j] -> [j] }
says
cells: S0 runs cell by cell along dimension 1 of count: iterations that go to different cells there are independent
*/
