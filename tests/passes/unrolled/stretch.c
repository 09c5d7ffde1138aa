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
