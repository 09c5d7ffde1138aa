/* The second coordinate of a front is an index temporary. */
void f(int nb, int s[65][65])
{
#pragma scop
    for (int blk = 1; blk < 2 * nb; blk++)
        for (int x = 0; x < nb; x++) {
            int y = blk - 1 - x;
            if (y >= 0 && y < nb)
                s[x + 1][y + 1] = s[x][y + 1] + s[x + 1][y];
        }
#pragma endscop
}
