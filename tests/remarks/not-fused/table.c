/* polyc compile --machine zen4 */
#define H 1024
#define W 4096

void f(const float curve[W / 64 + 1][12], const unsigned char level[H][W], float out[H][W])
{
    float smooth[W / 64 + 1][12];
#pragma polyc live-out(out)
#pragma scop
    for (int x = 0; x <= W / 64; x++)
        for (int k = 0; k < 12; k++)
            smooth[x][k] = curve[x][k] * 0.5f;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            out[y][x] = smooth[x / 64][level[y][x] % 12];
#pragma endscop
}
