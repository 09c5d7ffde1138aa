/* Buffers of a tile: a row of `b` is enough for an iteration over rows, an element of `c` for one over both loops. */
void tile(int n, double in[n][n], double out[n][n])
{
    double b[n][n], c[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = 2.0 * in[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            c[i][j] = b[i][j] - b[i][j - 1];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            out[i][j] = c[i][j] * c[i][j];
#pragma endscop
}
/* contract()
buffer b_tile tile array(b) extents(8, 65) corner({ [it, jt] -> b[it, jt - 1] }) accesses(S0.r1, S1.r0, S1.r1)
buffer c_tile tile array(c) extents(8, 64) corner({ [it, jt] -> c[it, jt] }) accesses(S1.r2, S2.r0, S2.r1)
domain
  band[cc] for(i, j) permutable tile(8, 64) { S0[i, j] -> [i - i mod 8, j - j mod 64];
                                              S1[i, j] -> [i - i mod 8, j - j mod 64];
                                              S2[i, j] -> [i - i mod 8, j - j mod 64] }
    mark "allocate" names(b_tile, c_tile)
      extension { [it, jt] -> S0[i, jt - 1] : it mod 8 = 0 and jt mod 64 = 0 and it <= i <= it + 7 and jt >= 64 }
        band[c] for(i) point { S0[i, j] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i] }
          sequence
            filter { S0[i, j] }
              band[c] for(j) point { S0[i, j] -> [j] }
            filter { S1[i, j]; S2[i, j] }
              band[c] for(j) point { S1[i, j] -> [j]; S2[i, j] -> [j] }
                sequence
                  filter { S1[i, j] }
                  filter { S2[i, j] }
becomes
buffer b_tile tile array(b) extents(8, 65) corner({ [it, jt] -> b[(it), (-1 + jt)] }) accesses(S0.r1, S1.r0, S1.r1)
buffer c_tile tile array(c) extents(1, 1) corner({ [i0, i1, i2, i3] -> c[(i2), (i3)] }) name(c_here) accesses(S1.r2, S2.r0, S2.r1)
domain
  band[cc] for(i, j) permutable tile(8, 64) { S0[i, j] -> [i - (i) mod 8, j - (j) mod 64];
                                              S1[i, j] -> [i - (i) mod 8, j - (j) mod 64];
                                              S2[i, j] -> [i - (i) mod 8, j - (j) mod 64] }
    mark "allocate" names(b_tile)
      extension { [i_t, j_t] -> S0[i, j = -1 + j_t] : (i_t) mod 8 = 0 and (j_t) mod 64 = 0 and i_t <= i <= 7 + i_t }
        band[c] for(i) point { S0[i, j] -> [i]; S1[i, j] -> [i]; S2[i, j] -> [i] }
          sequence
            filter { S0[i, j] }
              band[c] for(j) point { S0[i, j] -> [j] }
            filter { S1[i, j]; S2[i, j] }
              band[c] for(j) point { S1[i, j] -> [j]; S2[i, j] -> [j] }
                mark "allocate" names(c_tile)
                  sequence
                    filter { S1[i, j] }
                    filter { S2[i, j] }
says
contracted: c needs no array: each iteration keeps its own values
*/
