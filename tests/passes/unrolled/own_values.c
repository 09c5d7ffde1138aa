/* Each iteration keeps a value, so that a variable is declared in what is unrolled. */
void own_values(int m, const float in[63][m + 2], float s[61][m], float out[61][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            s[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 2] + in[i + 2][j]
                      + in[i + 2][j + 1] + in[i + 2][j + 2];
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = s[i][j] * s[i][j];
#pragma endscop
}
/* unroll()
buffer s_tile tile array(s) extents(1, 1) corner({ [i0, i1, i2, i3] -> s[(i2), (i3)] }) name(s_here) accesses(S0.r8, S1.r0, S1.r1)
domain
  mark "group" text("S0, S1 in tiles of 8 x 1024\nkept in the tile: s")
    band[cc] for(i, j) permutable tile(8, 1024) { S0[i, j] -> [i - (i) mod 8, j - (j) mod 1024];
                                                  S1[i, j] -> [i - (i) mod 8, j - (j) mod 1024] }
      band[cc] for(i, j) permutable point { S0[i, j] -> [i, j]; S1[i, j] -> [i, j] }
        mark "allocate" names(s_tile)
          sequence
            filter { S0[i, j] }
            filter { S1[i, j] }
becomes
buffer s_tile tile array(s) extents(1, 1) corner({ [i0, i1, i2, i3, i4] -> s[(i2 + i4), (i3)] }) name(s_here) accesses(S0.r8, S1.r0, S1.r1)
domain
  mark "group" text("S0, S1 in tiles of 8 x 1024\nkept in the tile: s")
    band[cc] for(i, j) permutable tile(8, 1024) { S0[i, j] -> [i - (i) mod 8, j - (j) mod 1024];
                                                  S1[i, j] -> [i - (i) mod 8, j - (j) mod 1024] }
      band[cc] for(i, j) permutable point whole({ [i0, i1, i2, i3] : (i0) mod 8 = 0 and (i1) mod 1024 = 0 and (i2) mod 4 = 0 and i2 >= i0 and 0 <= i2 <= 57 and i2 <= 4 + i0 and i3 >= i1 and 0 <= i3 <= 1023 + i1 and i3 < m }) {
          S0[i, j] -> [i - (i) mod 4, j];
          S1[i, j] -> [i - (i) mod 4, j] }
        band[c] for(r) permutable unrolled { S0[i, j] -> [(i) mod 4]; S1[i, j] -> [(i) mod 4] }
          mark "allocate" names(s_tile)
            sequence
              filter { S0[i, j] }
              filter { S1[i, j] }
says
unrolled: S0, S1: 4 iterations of i at once, which share what they read
*/
