/* Each iteration reads a short row again and again: strips have these rows as columns, and short loops are unrolled. */
void nearest(int n, int k, float points[n][6], float centres[k][6], int which[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float best = 1e30f;
        for (int c = 0; c < k; c++) {
            float d = 0;
            for (int j = 0; j < 6; j++)
                d += (points[i][j] - centres[c][j]) * (points[i][j] - centres[c][j]);
            if (d < best) {
                best = d;
                which[i] = c;
            }
        }
    }
#pragma endscop
}
/* spread()
domain
  band[c] for(i) { S0[i] -> [i]; S1[i, c] -> [i]; S2[i, c, j] -> [i]; S3[i, c] -> [i] }
    sequence
      filter { S0[i] }
      filter { S1[i, c]; S2[i, c, j]; S3[i, c] }
        band[-] for(c) { S1[i, c] -> [c]; S2[i, c, j] -> [c]; S3[i, c] -> [c] }
          sequence
            filter { S1[i, c] }
            filter { S2[i, c, j] }
              band[-] for(j) { S2[i, c, j] -> [j] }
            filter { S3[i, c] }
becomes
buffer best_of spread array(best) extents(64) corner({ [i0] -> best[(i0)] }) places({ S3[i, c] -> best[i] : 0 <= i < n and 0 <= c < k; S0[i] -> best[i] : k > 0 and 0 <= i < n }) accesses(S0.r0, S3.r1, S3.r3)
buffer d_of spread array(d) extents(64) corner({ [i0] -> d[(i0)] }) places({ S2[i, c, j] -> d[i] : 0 <= i < n and 0 <= c < k and 0 <= j <= 5; S1[i, c] -> d[i] : 0 <= i < n and 0 <= c < k; S3[i, c] -> d[i] : 0 <= i < n and 0 <= c < k }) accesses(S1.r0, S2.r4, S3.r0, S3.r2)
buffer points_columns tile array(points) extents(64, 6) corner({ [i0] -> points[(i0), (0)] }) order(1, 0) accesses(S2.r0, S2.r2, fill_points_columns_points.inside)
domain
  band[c] for(i) tile(64) { S0[i] -> [i - (i) mod 64];
                            S1[i, c] -> [i - (i) mod 64];
                            S2[i, c, j] -> [i - (i) mod 64];
                            S3[i, c] -> [i - (i) mod 64] }
    mark "allocate" names(points_columns)
      extension { [i_t] -> fill_points_columns_points[i0, i1] : (i_t) mod 64 = 0 and k > 0 and i0 >= i_t and 0 <= i0 <= 63 + i_t and i0 < n and 0 <= i1 <= 5 }
        sequence
          filter { fill_points_columns_points[i0, i1] }
            band[--] for(x0, x1) permutable { fill_points_columns_points[i0, i1] -> [i0, i1] }
          filter { S0[i]; S1[i, c]; S2[i, c, j]; S3[i, c] }
            mark "allocate" names(best_of, d_of)
              sequence
                filter { S0[i] }
                  band[c] for(i) permutable point { S0[i] -> [i] }
                filter { S1[i, c]; S2[i, c, j]; S3[i, c] }
                  band[-] for(c) { S1[i, c] -> [c]; S2[i, c, j] -> [c]; S3[i, c] -> [c] }
                    sequence
                      filter { S1[i, c]; S2[i, c, j] }
                        band[c] for(i) permutable point { S1[i, c] -> [i]; S2[i, c, j] -> [i] }
                          sequence
                            filter { S1[i, c] }
                            filter { S2[i, c, j] }
                              band[-] for(j) unrolled { S2[i, c, j] -> [j] }
                      filter { S3[i, c] }
                        band[c] for(i) permutable point { S3[i, c] -> [i] }
says
spread: S0, S1, S2, S3 in strips of 64 iterations of i, each with its own best, d; rows of points copied so that neighbours lie side by side
*/
