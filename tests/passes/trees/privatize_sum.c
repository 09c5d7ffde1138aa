/* A sum that one band runs with what begins and ends it: the scalar is declared between its loops. */
void sum(int n, double A[n][n], double y[n])
{
    double t;
#pragma scop
    for (int i = 0; i < n; i++) {
        t = 0.0;
        for (int k = 0; k < n; k++)
            t += A[k][i];
        y[i] = t;
    }
#pragma endscop
}
/* privatize()
domain
  band[c-] for(i, k) parallel(0) { S0[i] -> [i, -1]; S1[i, k] -> [i, k]; S2[i] -> [i, n] }
    sequence
      filter { S0[i] }
      filter { S1[i, k] }
      filter { S2[i] }
becomes
buffer t_private0 private array(t) extents() depth(1) name(t) accesses(S0.r0, S1.r1, S2.r0)
domain
  band[c] for(i) parallel(0) { S0[i] -> [i]; S1[i, k] -> [i]; S2[i] -> [i] }
    mark "allocate" names(t_private0)
      band[-] for(k) { S0[i] -> [-1]; S1[i, k] -> [k]; S2[i] -> [n] }
        sequence
          filter { S0[i] }
          filter { S1[i, k] }
          filter { S2[i] }
*/
