/* Each iteration keeps a value, so that a variable is declared in what is unrolled. */
void own_values(int m, const float in[65][m + 2], float d[63][m + 2], float s[61][m], float out[61][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 63; i++)
        for (int j = 0; j < m + 2; j++)
            d[i][j] = (in[i + 2][j] - in[i][j]) * 0.5f;
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            s[i][j] = d[i][j] + d[i][j + 1] + d[i][j + 2] + d[i + 1][j] + d[i + 1][j + 2] + d[i + 2][j]
                      + d[i + 2][j + 1] + d[i + 2][j + 2];
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = s[i][j] * s[i][j];
#pragma endscop
}
/* unroll()
buffer d_tile tile array(d) extents(10, 7170) corner({ [i0, i1] -> d[(i0), (i1)] }) accesses(S0.r2, S1.r0, S1.r1, S1.r2, S1.r3, S1.r4, S1.r5, S1.r6, S1.r7)
buffer s_tile tile array(s) extents(1, 1) corner({ [i0, i1, i2, i3] -> s[(i2), (i3)] }) name(s_here) accesses(S1.r8, S2.r0, S2.r1)
domain
  sequence
    filter { S1[i, j]; S2[i, j] }
      mark "group" text("S1, S2 in tiles of 8 x 7168\nS0 computed in the tile that needs it, 27 % repeated\nkept in the tile: d, s")
        band[cc] for(i, j) permutable tile(8, 7168) {
            S1[i, j] -> [i - (i) mod 8, j - (j) mod 7168];
            S2[i, j] -> [i - (i) mod 8, j - (j) mod 7168] }
          mark "allocate" names(d_tile)
            extension { [i_t, j_t] -> S0[i, j] : (i_t) mod 8 = 0 and (j_t) mod 7168 = 0 and i_t >= 0 and 0 <= j_t < m and i_t <= i <= 9 + i_t and j_t <= j <= 7169 + j_t }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j]; S2[i, j] }
                  band[cc] for(i, j) permutable point { S1[i, j] -> [i, j]; S2[i, j] -> [i, j] }
                    mark "allocate" names(s_tile)
                      sequence
                        filter { S1[i, j] }
                        filter { S2[i, j] }
becomes
buffer d_tile tile array(d) extents(10, 7170) corner({ [i0, i1] -> d[(i0), (i1)] }) accesses(S0.r2, S1.r0, S1.r1, S1.r2, S1.r3, S1.r4, S1.r5, S1.r6, S1.r7)
buffer s_tile tile array(s) extents(1, 1) corner({ [i0, i1, i2, i3, i4] -> s[(i2 + i4), (i3)] }) name(s_here) accesses(S1.r8, S2.r0, S2.r1)
domain
  sequence
    filter { S1[i, j]; S2[i, j] }
      mark "group" text("S1, S2 in tiles of 8 x 7168\nS0 computed in the tile that needs it, 27 % repeated\nkept in the tile: d, s")
        band[cc] for(i, j) permutable tile(8, 7168) {
            S1[i, j] -> [i - (i) mod 8, j - (j) mod 7168];
            S2[i, j] -> [i - (i) mod 8, j - (j) mod 7168] }
          mark "allocate" names(d_tile)
            extension { [i_t, j_t] -> S0[i, j] : (i_t) mod 8 = 0 and (j_t) mod 7168 = 0 and i_t >= 0 and 0 <= j_t < m and i_t <= i <= 9 + i_t and j_t <= j <= 7169 + j_t }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j]; S2[i, j] }
                  band[cc] for(i, j) permutable point whole({ [i0, i1, i2, i3] : (i0) mod 8 = 0 and (i1) mod 7168 = 0 and (i2) mod 4 = 0 and i2 >= i0 and 0 <= i2 <= 57 and i2 <= 4 + i0 and i3 >= i1 and 0 <= i3 <= 7167 + i1 and i3 < m }) {
                      S1[i, j] -> [i - (i) mod 4, j];
                      S2[i, j] -> [i - (i) mod 4, j] }
                    band[c] for(r) permutable unrolled { S1[i, j] -> [(i) mod 4]; S2[i, j] -> [(i) mod 4] }
                      mark "allocate" names(s_tile)
                        sequence
                          filter { S1[i, j] }
                          filter { S2[i, j] }
says
unrolled: S1, S2: 4 iterations of i at once, which share what they read
*/
