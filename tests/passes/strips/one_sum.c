/* The scalar is read after the inner loop, and starts from the column. */
void f(int n, int m, double A[n][m], double out[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        double t = A[0][j];
        for (int i = 1; i < n; i++)
            t = t * 0.5 + A[i][j];
        out[j] = t;
    }
#pragma endscop
}
/* spread()
domain
  mark "group" text("S0, S1, S2 in tiles of 256")
    band[c] for(j) permutable tile(256) { S0[j] -> [j - (j) mod 256];
                                          S1[j, i] -> [j - (j) mod 256];
                                          S2[j] -> [j - (j) mod 256] }
      band[c] for(j) permutable point { S0[j] -> [j]; S1[j, i] -> [j]; S2[j] -> [j] }
        sequence
          filter { S0[j] }
          filter { S1[j, i] }
            band[-] for(i) { S1[j, i] -> [i] }
          filter { S2[j] }
becomes
buffer t_of spread array(t) extents(256) corner({ [i0] -> t[(i0)] }) places({ S0[j] -> t[j] : 0 <= j < m; S2[j] -> t[j] : 0 <= j < m; S1[j, i] -> t[j] : 0 <= j < m and 0 < i < n }) accesses(S0.r1, S1.r0, S1.r2, S2.r0)
domain
  mark "group" text("S0, S1, S2 in tiles of 256")
    band[c] for(j) permutable tile(256) { S0[j] -> [j - (j) mod 256];
                                          S1[j, i] -> [j - (j) mod 256];
                                          S2[j] -> [j - (j) mod 256] }
      mark "allocate" names(t_of)
        sequence
          filter { S0[j] }
            band[c] for(j) permutable point { S0[j] -> [j] }
          filter { S1[j, i] }
            band[-] for(i) { S1[j, i] -> [i] }
              band[c] for(j) permutable point { S1[j, i] -> [j] }
          filter { S2[j] }
            band[c] for(j) permutable point { S2[j] -> [j] }
says
spread: S0, S1, S2 in strips of 256 iterations of j, each with its own t
*/
