/* A recurrence down each column, whose last values nobody reads. */
void f(int n, int m, double A[n][m], double B[n][m])
{
    double s, t;
#pragma scop
    for (int j = 0; j < m; j++) {
        s = 0.0;
        t = 1.0;
        for (int i = 0; i < n; i++) {
            A[i][j] = B[i][j] + 0.5 * s - 0.25 * t;
            t = s;
            s = A[i][j];
        }
    }
#pragma endscop
}
/* spread()
domain
  band[c] for(j) { S0[j] -> [j]; S1[j] -> [j]; S2[j, i] -> [j]; S3[j, i] -> [j]; S4[j, i] -> [j] }
    sequence
      filter { S0[j] }
      filter { S1[j] }
      filter { S2[j, i]; S3[j, i]; S4[j, i] }
        band[-] for(i) { S2[j, i] -> [i]; S3[j, i] -> [i]; S4[j, i] -> [i] }
          sequence
            filter { S2[j, i] }
            filter { S3[j, i] }
            filter { S4[j, i] }
becomes
buffer s_of spread array(s) extents(32) corner({ [i0] -> s[(i0)] }) places({ S4[j, i] -> s[j] : 0 <= j < m and 0 <= i < n; S0[j] -> s[j] : 0 <= j < m; S3[j, i] -> s[j] : 0 <= j < m and 0 <= i < n; S2[j, i] -> s[j] : 0 <= j < m and 0 <= i < n }) accesses(S0.r0, S2.r1, S3.r0, S4.r1)
buffer t_of spread array(t) extents(32) corner({ [i0] -> t[(i0)] }) places({ S3[j, i] -> t[j] : 0 <= j < m and 0 <= i < n; S2[j, i] -> t[j] : 0 <= j < m and 0 <= i < n; S1[j] -> t[j] : 0 <= j < m }) accesses(S1.r0, S2.r2, S3.r1)
domain
  band[c] for(j) permutable tile(32) { S0[j] -> [j - (j) mod 32];
                                       S1[j] -> [j - (j) mod 32];
                                       S2[j, i] -> [j - (j) mod 32];
                                       S3[j, i] -> [j - (j) mod 32];
                                       S4[j, i] -> [j - (j) mod 32] }
    mark "allocate" names(s_of, t_of)
      sequence
        filter { S0[j]; S1[j] }
          band[c] for(j) permutable point { S0[j] -> [j]; S1[j] -> [j] }
            sequence
              filter { S0[j] }
              filter { S1[j] }
        filter { S2[j, i]; S3[j, i]; S4[j, i] }
          band[-] for(i) { S2[j, i] -> [i]; S3[j, i] -> [i]; S4[j, i] -> [i] }
            band[c] for(j) permutable point { S2[j, i] -> [j]; S3[j, i] -> [j]; S4[j, i] -> [j] }
              sequence
                filter { S2[j, i] }
                filter { S3[j, i] }
                filter { S4[j, i] }
says
spread: S0, S1, S2, S3, S4 in strips of 32 iterations of j, each with its own s, t
*/
