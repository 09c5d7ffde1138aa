/* Values cross the borders of tiles along memory only: nothing slides, with strips or without. */
void columns(int n, float in[n][n], float out[n][n])
{
    float a[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = in[i][j] * 2.0f + 1.0f;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n - 1; j++)
            out[i][j] = a[i][j - 1] - a[i][j + 1];
#pragma endscop
}
/* windows(strips=3, assume="n >= 3")
buffer a_tile tile array(a) extents(4, 66) corner({ [it, jt] -> a[it, jt - 1] }) accesses(S0.r1, S1.r0, S1.r1)
domain
  sequence
    filter { S1[i, j] }
      mark "group" text("S1 in tiles of 4 x 64")
        band[cc] for(i, j) permutable tile(4, 64) { S1[i, j] -> [i - i mod 4, j - j mod 64] }
          mark "allocate" names(a_tile)
            extension { [it, jt] -> S0[i, j] : it mod 4 = jt mod 64 = 0 and it <= i <= it + 3 and jt - 1 <= j <= jt + 64 }
              sequence
                filter { S0[i, j] }
                  band[cc] for(i, j) permutable { S0[i, j] -> [i, j] }
                filter { S1[i, j] }
                  band[cc] for(i, j) permutable point { S1[i, j] -> [i, j] }
stays
says
no-sliding-window: its tiles repeat work, and no loop over them moves all that a producer makes along one dimension of a buffer, and not the one along memory
*/
