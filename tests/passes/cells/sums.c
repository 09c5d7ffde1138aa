void f(int n, const float in[n], float sum[n / 3 + 1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        sum[i / 3] += in[i];
#pragma endscop
}
/* schedule()
domain
  band[-] for(i) line(4) { S0[i] -> [i] }
becomes
domain
  band[c] for(cell) permutable { S0[i] -> [floor(i/3)] }
    band[-] for(i) { S0[i] -> [i] }
says
cells: S0 runs cell by cell along dimension 1 of sum: iterations that go to different cells there are independent
*/
