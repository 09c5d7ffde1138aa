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
