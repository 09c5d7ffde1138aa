/* An image of twice the width: even and odd columns read the same one of the smaller image. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void stretch(int n, const float in[n][1200], float out[n][2400])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 2400; x++)
            out[y][x] = (in[y][x / 2] + in[y][MIN((x + 1) / 2, 1199)]) * 0.5f;
#pragma endscop
}
/* unroll()
domain
  band[cc] for(y, x) permutable { S0[y, x] -> [y, x] }
becomes
domain
  band[cc] for(y, x2) permutable point(1) whole({ [i0, i1] : 0 <= i0 < n and 0 <= i1 <= 1197 }) { S0[y, x] -> [y, floor(x/2)] }
    band[c] for(x) permutable written-out { S0[y, x] -> [(x) mod 2] }
says
unrolled: S0: 2 iterations of x at once, in which x / 2 is the same; loops of their own for x where its subscripts need no choice
*/
