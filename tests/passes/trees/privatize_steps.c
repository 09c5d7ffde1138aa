/* A scalar that two steps of a time loop use, each for itself, and one whose last value is needed afterwards. */
void steps(int n, int t, double a[n], double b[n], double *last)
{
    double x, y = 0.0;
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 0; i < n; i++) {
            x = 0.5 * a[i];
            b[i] = x * x;
        }
        for (int i = 0; i < n; i++) {
            x = 0.25 * b[i];
            a[i] = x + 1.0;
        }
    }
    for (int i = 0; i < n; i++) {
        y = 0.5 * a[i];
        b[i] = y * y;
    }
#pragma endscop
    *last = y;
}
/* privatize()
domain
  sequence
    filter { S0[s, i]; S1[s, i]; S2[s, i]; S3[s, i] }
      band[-] for(s) { S0[s, i] -> [s]; S1[s, i] -> [s]; S2[s, i] -> [s]; S3[s, i] -> [s] }
        sequence
          filter { S0[s, i]; S1[s, i] }
            band[c] for(i) parallel(0) { S0[s, i] -> [i]; S1[s, i] -> [i] }
              sequence
                filter { S0[s, i] }
                filter { S1[s, i] }
          filter { S2[s, i]; S3[s, i] }
            band[c] for(i) parallel(0) { S2[s, i] -> [i]; S3[s, i] -> [i] }
              sequence
                filter { S2[s, i] }
                filter { S3[s, i] }
    filter { S4[i]; S5[i] }
      band[-] for(i) { S4[i] -> [i]; S5[i] -> [i] }
        sequence
          filter { S4[i] }
          filter { S5[i] }
becomes
buffer x_private0 private array(x) extents() depth(2) name(x) accesses(S0.r1, S1.r0, S1.r1)
buffer x_2_private0 private array(x_2) extents() depth(2) name(x_2) accesses(S2.r1, S3.r0)
domain
  sequence
    filter { S0[s, i]; S1[s, i]; S2[s, i]; S3[s, i] }
      band[-] for(s) { S0[s, i] -> [s]; S1[s, i] -> [s]; S2[s, i] -> [s]; S3[s, i] -> [s] }
        sequence
          filter { S0[s, i]; S1[s, i] }
            band[c] for(i) parallel(0) { S0[s, i] -> [i]; S1[s, i] -> [i] }
              mark "allocate" names(x_private0)
                sequence
                  filter { S0[s, i] }
                  filter { S1[s, i] }
          filter { S2[s, i]; S3[s, i] }
            band[c] for(i) parallel(0) { S2[s, i] -> [i]; S3[s, i] -> [i] }
              mark "allocate" names(x_2_private0)
                sequence
                  filter { S2[s, i] }
                  filter { S3[s, i] }
    filter { S4[i]; S5[i] }
      band[-] for(i) { S4[i] -> [i]; S5[i] -> [i] }
        sequence
          filter { S4[i] }
          filter { S5[i] }
*/
