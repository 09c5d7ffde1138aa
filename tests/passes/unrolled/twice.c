/* Twice the width, with a value that each iteration keeps. */
void twice(int n, int m, const float in[n][m + 1], float t[n][2 * m], float out[n][2 * m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 2 * m; x++)
            t[y][x] = in[y][x / 2] + in[y][x / 2 + 1];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 2 * m; x++)
            out[y][x] = t[y][x] * t[y][x];
#pragma endscop
}
/* unroll()
buffer t_tile tile array(t) extents(1, 1) corner({ [i0, i1, i2, i3] -> t[(i2), (i3)] }) name(t_here) accesses(S0.r2, S1.r0, S1.r1)
domain
  mark "group" text("S0, S1 in tiles of 16 x 2048\nkept in the tile: t")
    band[cc] for(y, x) permutable tile(16, 2048) {
        S0[y, x] -> [y - (y) mod 16, x - (x) mod 2048];
        S1[y, x] -> [y - (y) mod 16, x - (x) mod 2048] }
      band[cc] for(y, x) permutable point { S0[y, x] -> [y, x]; S1[y, x] -> [y, x] }
        mark "allocate" names(t_tile)
          sequence
            filter { S0[y, x] }
            filter { S1[y, x] }
becomes
buffer t_tile tile array(t) extents(1, 1) corner({ [i0, i1, i2, i3, i4] -> t[(i2), (2i3 + i4)] }) name(t_here) accesses(S0.r2, S1.r0, S1.r1)
domain
  mark "group" text("S0, S1 in tiles of 16 x 2048\nkept in the tile: t")
    band[cc] for(y, x) permutable tile(16, 2048) {
        S0[y, x] -> [y - (y) mod 16, x - (x) mod 2048];
        S1[y, x] -> [y - (y) mod 16, x - (x) mod 2048] }
      band[cc] for(y, x2) permutable point whole({ [i0, i1, i2, i3] : (i0) mod 16 = 0 and (i1) mod 2048 = 0 and i2 >= i0 and 0 <= i2 <= 15 + i0 and i2 < n and 0 <= i3 < m and i1 <= 2i3 <= 2046 + i1 }) {
          S0[y, x] -> [y, floor(x/2)];
          S1[y, x] -> [y, floor(x/2)] }
        band[c] for(x) permutable written-out { S0[y, x] -> [(x) mod 2]; S1[y, x] -> [(x) mod 2] }
          mark "allocate" names(t_tile)
            sequence
              filter { S0[y, x] }
              filter { S1[y, x] }
says
unrolled: S0, S1: 2 iterations of x at once, in which x / 2 is the same
*/
