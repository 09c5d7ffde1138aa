/* `a` and `b` live in one iteration, `c` is read by the next one too, `d` is needed afterwards. */
void chain(int n, double in[n], double d[n], double out[n])
{
    double a[n], b[n], c[n];
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2.0 * in[i] + 1.0;
    for (int i = 0; i < n; i++)
        b[i] = a[i] > 0.5 ? a[i] : -a[i];
    for (int i = 0; i < n; i++)
        d[i] = a[i] * b[i];
    for (int i = 0; i < n; i++)
        c[i] = d[i] + b[i];
    for (int i = 1; i < n; i++)
        out[i] = c[i] - c[i - 1];
#pragma endscop
}
/* contract()
domain
  sequence
    filter { S0[i]; S1[i]; S2[i]; S3[i] }
      band[c] for(i) { S0[i] -> [i]; S1[i] -> [i]; S2[i] -> [i]; S3[i] -> [i] }
        sequence
          filter { S0[i] }
          filter { S1[i] }
          filter { S2[i] }
          filter { S3[i] }
    filter { S4[i] }
      band[c] for(i) { S4[i] -> [i] }
becomes
buffer a_here tile array(a) extents(1) corner({ [i0] -> a[(i0)] }) accesses(S0.r1, S1.r0, S1.r1, S1.r2, S2.r0)
buffer b_here tile array(b) extents(1) corner({ [i0] -> b[(i0)] }) accesses(S1.r3, S2.r1, S3.r1)
domain
  sequence
    filter { S0[i]; S1[i]; S2[i]; S3[i] }
      band[c] for(i) { S0[i] -> [i]; S1[i] -> [i]; S2[i] -> [i]; S3[i] -> [i] }
        mark "allocate" names(b_here, a_here)
          sequence
            filter { S0[i] }
            filter { S1[i] }
            filter { S2[i] }
            filter { S3[i] }
    filter { S4[i] }
      band[c] for(i) { S4[i] -> [i] }
says
contracted: a needs no array: each iteration keeps its own values
contracted: b needs no array: each iteration keeps its own values
*/
/* contract()
# With the loops apart nothing lives in one iteration.
domain
  sequence
    filter { S0[i] }
      band[c] for(i) { S0[i] -> [i] }
    filter { S1[i]; S2[i]; S3[i] }
      band[c] for(i) { S1[i] -> [i]; S2[i] -> [i]; S3[i] -> [i] }
        sequence
          filter { S1[i]; S2[i] }
            sequence
              filter { S1[i] }
              filter { S2[i] }
          filter { S3[i] }
    filter { S4[i] }
      band[c] for(i) { S4[i] -> [i] }
becomes
buffer b_here tile array(b) extents(1) corner({ [i0] -> b[(i0)] }) accesses(S1.r3, S2.r1, S3.r1)
domain
  sequence
    filter { S0[i] }
      band[c] for(i) { S0[i] -> [i] }
    filter { S1[i]; S2[i]; S3[i] }
      band[c] for(i) { S1[i] -> [i]; S2[i] -> [i]; S3[i] -> [i] }
        mark "allocate" names(b_here)
          sequence
            filter { S1[i]; S2[i] }
              sequence
                filter { S1[i] }
                filter { S2[i] }
            filter { S3[i] }
    filter { S4[i] }
      band[c] for(i) { S4[i] -> [i] }
says
contracted: b needs no array: each iteration keeps its own values
*/
