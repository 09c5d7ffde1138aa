/* Rows of bytes of a known length: the iterations that compilers would run one by one have a loop of their own. */
void bytes(int n, const unsigned char in[n + 2][800], unsigned char out[n][800])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 1; x < 799; x++)
            out[y][x] = (in[y][x - 1] + 2 * in[y][x] + in[y][x + 1] + 2 * in[y + 1][x - 1] + 4 * in[y + 1][x]
                         + 2 * in[y + 1][x + 1] + in[y + 2][x - 1] + 2 * in[y + 2][x] + in[y + 2][x + 1]) / 16;
#pragma endscop
}
/* unroll()
domain
  band[cc] for(y, x) permutable { S0[y, x] -> [y, x] }
becomes
domain
  band[cc] for(y, x) permutable whole({ [i0, i1] : 0 <= i0 < n and 0 < i1 <= 784 }) { S0[y, x] -> [y, x] }
says
unrolled: S0: a loop of their own for the last iterations of x, in shorter vectors
*/
