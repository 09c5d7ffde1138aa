/* Lookups in a loop that calls functions. */
static int blend(int a, int b)
{
    return a * 5 + b;
}
void f(int at[200], short t[2][200], float rows[4][9], int other[2][203])
{
#pragma scop
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 200; x++)
            t[y][x] = (rows[x / 64][at[x] + at[x]] > 0.25) + blend(other[y][x + 1], 4);
#pragma endscop
}
