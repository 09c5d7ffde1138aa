/* Writers between each other's elements, which a stencil reads: tiles make the box of what they read. */
void parities(int n, const float in[n + 2][2 * n + 4], float kept[2 * n + 2], float out[n][2 * n])
{
    float mixed[n + 2][2 * n + 4], none[n + 2][2 * n + 4];
#pragma polyc live-out(out, kept)
#pragma scop
    for (int x = 0; x < n; x++)
        kept[2 * x] = in[0][x];
    for (int x = 0; x < n; x++)
        kept[2 * x + 1] = in[1][x] + 1.0f;
    for (int y = 0; y < n + 2; y++)
        for (int x = 0; x < 2 * n + 4; x++)
            if ((x + y) % 2 == 0)
                mixed[y][x] = in[y][x] * 0.5f;
    for (int y = 0; y < n + 2; y++)
        for (int x = 0; x < 2 * n + 4; x++)
            if ((x + y) % 2 == 1)
                mixed[y][x] = in[y][x] + 2.0f;
    for (int y = 0; y < n + 2; y++)
        for (int x = 0; x < n + 2; x++)
            none[y][2 * x] = in[y][x] * 3.0f;
    for (int y = 0; y < n + 2; y++)
        for (int x = 0; x < n + 2; x++)
            none[y][2 * x + 1] = in[y][x + 2] - 1.0f;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 2 * n; x++)
            out[y][x] = mixed[y][x + 1] + mixed[y + 1][x] + mixed[y + 1][x + 2] + mixed[y + 2][x + 1] - none[y][x]
                        - none[y + 1][x + 3];
#pragma endscop
}
