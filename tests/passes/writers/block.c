/* A block of scalars that computes two images from one, and stencils over both. */
void f(int n, int m, const float in[n][m], float one[n][m], float two[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++) {
            float dx = in[y][x + 1] - in[y][x - 1];
            float dy = in[y + 1][x] - in[y - 1][x];
            float both = dx * dx + dy * dy;
            one[y][x] = dx * dy;
            two[y][x] = both > 1.0f ? 1.0f : both;
        }
    for (int y = 2; y < n - 2; y++)
        for (int x = 2; x < m - 2; x++) {
            float a = one[y - 1][x] + one[y][x] + one[y + 1][x];
            float b = two[y][x - 1] + two[y][x] + two[y][x + 1];
            out[y][x] = a * b - 0.5f * two[y + 1][x];
        }
#pragma endscop
}
