/* Three stencils in tiles: in strips each tile makes the rows that the one before has not made. */
void strips(int n, float in[n][n], float out[n][n])
{
    float a[n][n], b[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = in[i][j] * 2.0f + 1.0f;
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = a[i - 1][j] + a[i + 1][j];
    for (int i = 2; i < n - 2; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = b[i - 1][j] - b[i + 1][j];
#pragma endscop
}
/* windows(strips=3, assume="n >= 5")
buffer a_tile tile array(a) extents(8, 64) corner({ [it, jt] -> a[it - 2, jt] }) accesses(S0.r1, S1.r0, S1.r1)
buffer b_tile tile array(b) extents(6, 64) corner({ [it, jt] -> b[it - 1, jt] }) accesses(S1.r2, S2.r0, S2.r1)
domain
  sequence
    filter { S2[i, j] }
      mark "group" text("S2 in tiles of 4 x 64\nkept in the tile: a, b")
        band[cc] for(i, j) permutable tile(4, 64) { S2[i, j] -> [i - i mod 4, j - j mod 64] }
          mark "allocate" names(a_tile, b_tile)
            extension {
                [it, jt] -> S0[i, j] : it mod 4 = jt mod 64 = 0 and it - 2 <= i <= it + 5 and jt <= j <= jt + 63;
                [it, jt] -> S1[i, j] : it mod 4 = jt mod 64 = 0 and it - 1 <= i <= it + 4 and jt <= j <= jt + 63 }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j] }
                  band[cc] for(i, j) permutable { S1[i, j] -> [i, j] }
                filter { S2[i, j] }
                  band[cc] for(i, j) permutable point { S2[i, j] -> [i, j] }
becomes
buffer a_tile tile array(a) extents(8, 64) corner({ [it, jt] -> a[(-2 + it), (jt)] }) window(0) accesses(S0.r1, S1.r0, S1.r1)
buffer b_tile tile array(b) extents(6, 64) corner({ [it, jt] -> b[(-1 + it), (jt)] }) window(0) accesses(S1.r2, S2.r0, S2.r1)
domain
  sequence
    filter { S2[i, j] }
      mark "group" text("S2 in tiles of 4 x 64\nkept in the tile: a, b\nin strips of 3 tiles, which slide: what is in a, b is made once in each strip")
        band[cc] for(i, j) permutable tile(12, 64) { S2[i, j] -> [i - (i) mod 12, j - (j) mod 64] }
          mark "allocate" names(a_tile, b_tile)
            band[-] for(i) permutable tile(4) { S2[i, j] -> [i - (i) mod 4] }
              extension {
                  [i_t, j_t, i_t2] -> S0[i, j] : (i_t) mod 12 = 0 and (j_t) mod 64 = 0 and (i_t2) mod 4 = 0 and 4 + i_t <= i_t2 <= 8 + i_t and 2 + i_t2 <= i <= 5 + i_t2 and j_t <= j <= 63 + j_t; [i_t, j_t, i_t2 = i_t] -> S0[i, j] : (i_t) mod 12 = 0 and (j_t) mod 64 = 0 and -2 + i_t <= i <= 5 + i_t and j_t <= j <= 63 + j_t;
                  [i_t, j_t, i_t2] -> S1[i, j] : (i_t) mod 12 = 0 and (j_t) mod 64 = 0 and (i_t2) mod 4 = 0 and 4 + i_t <= i_t2 <= 8 + i_t and i_t2 < i <= 4 + i_t2 and j_t <= j <= 63 + j_t; [i_t, j_t, i_t2 = i_t] -> S1[i, j] : (i_t) mod 12 = 0 and (j_t) mod 64 = 0 and -1 + i_t <= i <= 4 + i_t and j_t <= j <= 63 + j_t }
                sequence
                  filter { S0[i, j] }
                    band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                  filter { S1[i, j] }
                    band[cc] for(i, j) permutable { S1[i, j] -> [i, j] }
                  filter { S2[i, j] }
                    band[cc] for(i, j) permutable point { S2[i, j] -> [i, j] }
says
sliding-window: strips of 3 tiles, each of which makes only what the one before has not made; a, b are in circular buffers
*/
