/* Values that are chosen by the parity of a row and a column, and clamped to bytes. */
#include "driver.h"

static inline int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static void demosaic(int h, int w, unsigned char raw[h][w], unsigned char rgb[h][w][3], const int m[3][3])
{
#pragma scop
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            int r, g, b;
            int cross = (raw[y - 1][x] + raw[y + 1][x] + raw[y][x - 1] + raw[y][x + 1] + 2) >> 2;
            int diag = (raw[y - 1][x - 1] + raw[y - 1][x + 1] + raw[y + 1][x - 1] + raw[y + 1][x + 1] + 2) >> 2;
            int horz = (raw[y][x - 1] + raw[y][x + 1] + 1) >> 1;
            int vert = (raw[y - 1][x] + raw[y + 1][x] + 1) >> 1;
            if ((y & 1) == 0) {
                if ((x & 1) == 0) {
                    r = raw[y][x], g = cross, b = diag;
                } else {
                    r = horz;
                    g = raw[y][x];
                    b = vert;
                }
            } else {
                if ((x & 1) == 0) {
                    r = vert;
                    g = raw[y][x];
                    b = horz;
                } else {
                    r = diag;
                    g = cross;
                    b = raw[y][x];
                }
            }
            for (int c = 0; c < 3; c++) {
                int v = (m[c][0] * r + m[c][1] * g + m[c][2] * b + 2048) >> 8;
                rgb[y][x][c] = (unsigned char)clamp(v, 0, 255);
            }
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if ((x + y) % 2 == 0)
                raw[y][x] = 2 * raw[y][x] > 255 ? 255 : 2 * raw[y][x];
#pragma endscop
}

int main(void)
{
    const int m[3][3] = {{410, -120, -34}, {-60, 380, -64}, {-10, -130, 396}};
    FOR_SIZES(n, 1, 2, 3, 34, 70) {
        unsigned char *raw = new_byte(n * (n + 5)), *rgb = new_byte(3 * n * (n + 5));
        demosaic(n, n + 5, (void *)raw, (void *)rgb, m);
        dump_byte("rgb", rgb, 3 * n * (n + 5));
        dump_byte("raw", raw, n * (n + 5));
        free(raw), free(rgb);
    }
    return 0;
}
