/* Stencils in one tile: `c` takes the place of `a`, `d` that of `b`; `s` has elements of another type. */
void stages(int n, double in[n], double out[n])
{
    double a[n], b[n], c[n], d[n];
    float s[n];
#pragma scop
    for (int i = 1; i < n - 1; i++)
        a[i] = in[i - 1] + 2.0 * in[i + 1];
    for (int i = 2; i < n - 2; i++)
        b[i] = a[i - 1] - 0.5 * a[i + 1];
    for (int i = 3; i < n - 3; i++)
        s[i] = b[i - 1] + 3.0 * b[i + 1];
    for (int i = 4; i < n - 4; i++)
        c[i] = s[i - 1] + 0.25 * s[i + 1] + in[i];
    for (int i = 5; i < n - 5; i++)
        d[i] = c[i - 1] - 2.0 * c[i + 1];
    for (int i = 6; i < n - 6; i++)
        out[i] = d[i - 1] + 0.125 * d[i + 1];
#pragma endscop
}
/* share(assume="n >= 13")
buffer a_tile tile array(a) extents(74) corner({ [it] -> a[it - 5] }) accesses(S0.r2, S1.r0, S1.r1)
buffer b_tile tile array(b) extents(72) corner({ [it] -> b[it - 4] }) accesses(S1.r2, S2.r0, S2.r1)
buffer s_tile tile array(s) extents(70) corner({ [it] -> s[it - 3] }) accesses(S2.r2, S3.r0, S3.r1)
buffer c_tile tile array(c) extents(68) corner({ [it] -> c[it - 2] }) accesses(S3.r3, S4.r0, S4.r1)
buffer d_tile tile array(d) extents(66) corner({ [it] -> d[it - 1] }) accesses(S4.r2, S5.r0, S5.r1)
domain
  sequence
    filter { S5[i] }
      mark "group" text("S5 in tiles of 64")
        band[c] for(i) tile(64) { S5[i] -> [i - i mod 64] }
          mark "allocate" names(a_tile, b_tile, s_tile, c_tile, d_tile)
            extension {
                [it] -> S0[i] : it mod 64 = 0 and 0 <= it <= n - 7 and it - 5 <= i <= it + 68;
                [it] -> S1[i] : it mod 64 = 0 and 0 <= it <= n - 7 and it - 4 <= i <= it + 67;
                [it] -> S2[i] : it mod 64 = 0 and 0 <= it <= n - 7 and it - 3 <= i <= it + 66;
                [it] -> S3[i] : it mod 64 = 0 and 0 <= it <= n - 7 and it - 2 <= i <= it + 65;
                [it] -> S4[i] : it mod 64 = 0 and 0 <= it <= n - 7 and it - 1 <= i <= it + 64 }
              sequence
                filter { S0[i] }
                  band[c] for(i) { S0[i] -> [i] }
                filter { S1[i] }
                  band[c] for(i) { S1[i] -> [i] }
                filter { S2[i] }
                  band[c] for(i) { S2[i] -> [i] }
                filter { S3[i] }
                  band[c] for(i) { S3[i] -> [i] }
                filter { S4[i] }
                  band[c] for(i) { S4[i] -> [i] }
                filter { S5[i] }
                  band[c] for(i) point { S5[i] -> [i] }
becomes
buffer a_tile tile array(a) extents(74) corner({ [it] -> a[(-5 + it)] }) name(tile) accesses(S0.r2, S1.r0, S1.r1)
buffer b_tile tile array(b) extents(72) corner({ [it] -> b[(-4 + it)] }) name(tile2) accesses(S1.r2, S2.r0, S2.r1)
buffer s_tile tile array(s) extents(70) corner({ [it] -> s[(-3 + it)] }) accesses(S2.r2, S3.r0, S3.r1)
buffer c_tile tile array(c) extents(74) corner({ [it] -> c[(-2 + it)] }) name(tile) accesses(S3.r3, S4.r0, S4.r1)
buffer d_tile tile array(d) extents(72) corner({ [it] -> d[(-1 + it)] }) name(tile2) accesses(S4.r2, S5.r0, S5.r1)
domain
  sequence
    filter { S5[i] }
      mark "group" text("S5 in tiles of 64\ntile is for a, then c\ntile2 is for b, then d")
        band[c] for(i) tile(64) { S5[i] -> [i - (i) mod 64] }
          mark "allocate" names(a_tile, b_tile, s_tile, c_tile, d_tile)
            extension {
                [i_t] -> S0[i] : (i_t) mod 64 = 0 and 0 <= i_t <= -7 + n and -5 + i_t <= i <= 68 + i_t;
                [i_t] -> S1[i] : (i_t) mod 64 = 0 and 0 <= i_t <= -7 + n and -4 + i_t <= i <= 67 + i_t;
                [i_t] -> S2[i] : (i_t) mod 64 = 0 and i_t <= -7 + n and -3 + i_t <= i <= 66 + i_t;
                [i_t] -> S3[i] : (i_t) mod 64 = 0 and i_t <= -7 + n and -2 + i_t <= i <= 65 + i_t;
                [i_t] -> S4[i] : (i_t) mod 64 = 0 and i_t <= -7 + n and -1 + i_t <= i <= 64 + i_t }
              sequence
                filter { S0[i] }
                  band[c] for(i) { S0[i] -> [i] }
                filter { S1[i] }
                  band[c] for(i) { S1[i] -> [i] }
                filter { S2[i] }
                  band[c] for(i) { S2[i] -> [i] }
                filter { S3[i] }
                  band[c] for(i) { S3[i] -> [i] }
                filter { S4[i] }
                  band[c] for(i) { S4[i] -> [i] }
                filter { S5[i] }
                  band[c] for(i) point { S5[i] -> [i] }
says
storage-shared: the buffers of a tile take 1448 bytes, since not all are in use at once, instead of 2520
*/
