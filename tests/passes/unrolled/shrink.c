/* An image of half the width, with a clamp at either side. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void shrink(int n, const float in[n][1400], float out[n][700])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 700; x++)
            out[y][x] = (in[y][MAX(2 * x - 1, 0)] + 3.0f * (in[y][2 * x] + in[y][2 * x + 1])
                         + in[y][MIN(2 * x + 2, 1399)]) * 0.125f;
#pragma endscop
}
/* unroll()
domain
  band[cc] for(y, x) permutable { S0[y, x] -> [y, x] }
becomes
domain
  band[cc] for(y, x) permutable whole({ [i0, i1] : 0 <= i0 < n and 0 < i1 <= 698 }) { S0[y, x] -> [y, x] }
says
unrolled: S0: loops of their own for x where its subscripts need no choice
*/
