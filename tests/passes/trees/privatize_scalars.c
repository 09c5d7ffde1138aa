/* Scalars and a small array that each iteration has for itself, one scalar that goes on, one that is needed later. */
void scalars(int n, int m, double a[n][m], double b[n][m], double out[n][m], double *last)
{
    double acc, x, carry = 0.5, row[4];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            acc = 0.0;
            for (int k = 0; k < 4; k++)
                row[k] = a[i][j] * k;
            for (int k = 0; k < 4; k++)
                acc += row[k] * row[3 - k];
            out[i][j] = acc;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            x = b[i][j] * 0.5;
            b[i][j] = x * x;
        }
    for (int i = 0; i < n; i++)
        carry = carry * 0.5 + b[i][0];
#pragma endscop
    *last = carry;
}
/* privatize()
domain
  sequence
    filter { S0[i, j]; S1[i, j, k]; S2[i, j, k]; S3[i, j] }
      band[cc] for(i, j) permutable parallel(0) { S0[i, j] -> [i, j]; S1[i, j, k] -> [i, j];
                                                  S2[i, j, k] -> [i, j]; S3[i, j] -> [i, j] }
        sequence
          filter { S0[i, j] }
          filter { S1[i, j, k]; S2[i, j, k] }
            sequence
              filter { S1[i, j, k] }
                band[c] for(k) { S1[i, j, k] -> [k] }
              filter { S2[i, j, k] }
                band[-] for(k) { S2[i, j, k] -> [k] }
          filter { S3[i, j] }
    filter { S4[i, j]; S5[i, j] }
      band[cc] for(i, j) permutable { S4[i, j] -> [i, j]; S5[i, j] -> [i, j] }
        sequence
          filter { S4[i, j] }
          filter { S5[i, j] }
    filter { S6[i] }
      band[-] for(i) { S6[i] -> [i] }
becomes
buffer acc_private0 private array(acc) extents() depth(2) name(acc) accesses(S0.r0, S2.r2, S3.r0)
buffer row_private0 private array(row) extents({ [] -> [(4)] }) depth(2) name(row) accesses(S1.r1, S2.r0, S2.r1)
domain
  sequence
    filter { S0[i, j]; S1[i, j, k]; S2[i, j, k]; S3[i, j] }
      band[cc] for(i, j) permutable parallel(0) { S0[i, j] -> [i, j];
                                                  S1[i, j, k] -> [i, j];
                                                  S2[i, j, k] -> [i, j];
                                                  S3[i, j] -> [i, j] }
        mark "allocate" names(acc_private0)
          sequence
            filter { S0[i, j] }
            filter { S1[i, j, k]; S2[i, j, k] }
              mark "allocate" names(row_private0)
                sequence
                  filter { S1[i, j, k] }
                    band[c] for(k) { S1[i, j, k] -> [k] }
                  filter { S2[i, j, k] }
                    band[-] for(k) { S2[i, j, k] -> [k] }
            filter { S3[i, j] }
    filter { S4[i, j]; S5[i, j] }
      band[cc] for(i, j) permutable { S4[i, j] -> [i, j]; S5[i, j] -> [i, j] }
        sequence
          filter { S4[i, j] }
          filter { S5[i, j] }
    filter { S6[i] }
      band[-] for(i) { S6[i] -> [i] }
*/
/* privatize()
# Columns inside of rows, in vectors: the scalar of the second nest belongs to each of them.
domain
  sequence
    filter { S0[i, j]; S1[i, j, k]; S2[i, j, k]; S3[i, j] }
      band[c] for(i) parallel(0) { S0[i, j] -> [i]; S1[i, j, k] -> [i]; S2[i, j, k] -> [i]; S3[i, j] -> [i] }
        band[c] for(j) { S0[i, j] -> [j]; S1[i, j, k] -> [j]; S2[i, j, k] -> [j]; S3[i, j] -> [j] }
          sequence
            filter { S0[i, j] }
            filter { S1[i, j, k] }
              band[c] for(k) { S1[i, j, k] -> [k] }
            filter { S2[i, j, k] }
              band[-] for(k) { S2[i, j, k] -> [k] }
            filter { S3[i, j] }
    filter { S4[i, j]; S5[i, j] }
      band[-c] for(i, j) permutable vector(1) { S4[i, j] -> [i, j]; S5[i, j] -> [i, j] }
        sequence
          filter { S4[i, j] }
          filter { S5[i, j] }
    filter { S6[i] }
      band[-] for(i) { S6[i] -> [i] }
becomes
buffer acc_private0 private array(acc) extents() depth(2) name(acc) accesses(S0.r0, S2.r2, S3.r0)
buffer row_private0 private array(row) extents({ [] -> [(4)] }) depth(2) name(row) accesses(S1.r1, S2.r0, S2.r1)
buffer x_private0 private array(x) extents() depth(2) name(x) accesses(S4.r1, S5.r0, S5.r1)
domain
  sequence
    filter { S0[i, j]; S1[i, j, k]; S2[i, j, k]; S3[i, j] }
      band[c] for(i) parallel(0) { S0[i, j] -> [i]; S1[i, j, k] -> [i]; S2[i, j, k] -> [i]; S3[i, j] -> [i] }
        band[c] for(j) { S0[i, j] -> [j]; S1[i, j, k] -> [j]; S2[i, j, k] -> [j]; S3[i, j] -> [j] }
          mark "allocate" names(acc_private0)
            mark "allocate" names(row_private0)
              sequence
                filter { S0[i, j] }
                filter { S1[i, j, k] }
                  band[c] for(k) { S1[i, j, k] -> [k] }
                filter { S2[i, j, k] }
                  band[-] for(k) { S2[i, j, k] -> [k] }
                filter { S3[i, j] }
    filter { S4[i, j]; S5[i, j] }
      band[-c] for(i, j) permutable vector(1) { S4[i, j] -> [i, j]; S5[i, j] -> [i, j] }
        mark "allocate" names(x_private0)
          sequence
            filter { S4[i, j] }
            filter { S5[i, j] }
    filter { S6[i] }
      band[-] for(i) { S6[i] -> [i] }
*/
