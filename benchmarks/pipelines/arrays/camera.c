/*
 * Camera pipeline: from the raw values of a sensor, each pixel behind one filter of the Bayer pattern
 *
 *     G R        gr r
 *     B G   =    b gb
 *
 * to an image of three colours. All of it in integers, but for a matrix of twelve numbers and a table.
 *
 *   hot pixels are cut to the range of their neighbours of the same colour; the four places of the pattern get an image
 *   each; green is interpolated where it changes less; red and blue are interpolated with green's slope; colours are
 *   corrected by a matrix in 1/256; a table gives contrast, gamma and eight bits
 *
 * Thirty-two stages. The raw image has a border of 24 rows and 16 columns.
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#define ROWS SIZE(16, 64, 256, 1920, 3840) /* even */
#define COLS SIZE(24, 64, 256, 2560, 5120)
#define H (ROWS / 2)
#define W (COLS / 2)
#define TEMPERATURE 3700.0f
#define GAMMA 2.0f
#define CONTRAST 50.0f
#define BLACK 25
#define WHITE 1023
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MEAN(a, b) (((a) + (b) + 1) / 2)
#define NEAR(a, b) abs((a) - (b))

void camera(const unsigned short raw[ROWS + 48][COLS + 32], const float warm[3][4], const float cold[3][4],
            unsigned char out[3][ROWS][COLS])
{
    /* a border of four pixels, of two in each image of the pattern, of one in its green */
    short (*clean)[COLS + 8] = malloc(sizeof(short[ROWS + 8][COLS + 8]));
    short (*gr)[W + 4] = malloc(sizeof(short[H + 4][W + 4]));
    short (*r)[W + 4] = malloc(sizeof(short[H + 4][W + 4]));
    short (*b)[W + 4] = malloc(sizeof(short[H + 4][W + 4]));
    short (*gb)[W + 4] = malloc(sizeof(short[H + 4][W + 4]));
    short (*gv_r)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*gh_r)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*g_r)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*gv_b)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*gh_b)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*g_b)[W + 2] = malloc(sizeof(short[H + 2][W + 2]));
    short (*r_gr)[W] = malloc(sizeof(short[H][W]));
    short (*b_gr)[W] = malloc(sizeof(short[H][W]));
    short (*r_gb)[W] = malloc(sizeof(short[H][W]));
    short (*b_gb)[W] = malloc(sizeof(short[H][W]));
    short (*rp_b)[W] = malloc(sizeof(short[H][W]));
    short (*rn_b)[W] = malloc(sizeof(short[H][W]));
    short (*r_b)[W] = malloc(sizeof(short[H][W]));
    short (*bp_r)[W] = malloc(sizeof(short[H][W]));
    short (*bn_r)[W] = malloc(sizeof(short[H][W]));
    short (*b_r)[W] = malloc(sizeof(short[H][W]));
    short (*red)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    short (*green)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    short (*blue)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    short (*matrix)[4] = malloc(sizeof(short[3][4]));
    short (*red2)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    short (*green2)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    short (*blue2)[COLS] = malloc(sizeof(short[ROWS][COLS]));
    unsigned char *curve = malloc(WHITE + 1);

#pragma polyc live-out(out)
#pragma scop
    /* hot pixels */
    for (int y = 0; y < ROWS + 8; y++)
        for (int x = 0; x < COLS + 8; x++) {
            int most = MAX(MAX(raw[y + 20][x + 10], raw[y + 20][x + 14]),
                           MAX(raw[y + 18][x + 12], raw[y + 22][x + 12]));
            int least = MIN(MIN(raw[y + 20][x + 10], raw[y + 20][x + 14]),
                            MIN(raw[y + 18][x + 12], raw[y + 22][x + 12]));
            clean[y][x] = MIN(MAX(raw[y + 20][x + 12], least), most);
        }
    /* the places of the pattern */
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            gr[y][x] = clean[2 * y][2 * x];
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            r[y][x] = clean[2 * y][2 * x + 1];
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            b[y][x] = clean[2 * y + 1][2 * x];
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            gb[y][x] = clean[2 * y + 1][2 * x + 1];
    /* green at red and at blue, along the smaller step */
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            gv_r[y][x] = MEAN(gb[y][x + 1], gb[y + 1][x + 1]);
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            gh_r[y][x] = MEAN(gr[y + 1][x + 1], gr[y + 1][x + 2]);
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            g_r[y][x] = NEAR(gb[y][x + 1], gb[y + 1][x + 1]) < NEAR(gr[y + 1][x + 1], gr[y + 1][x + 2]) ? gv_r[y][x]
                                                                                                       : gh_r[y][x];
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            gv_b[y][x] = MEAN(gr[y + 1][x + 1], gr[y + 2][x + 1]);
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            gh_b[y][x] = MEAN(gb[y + 1][x], gb[y + 1][x + 1]);
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            g_b[y][x] = NEAR(gr[y + 1][x + 1], gr[y + 2][x + 1]) < NEAR(gb[y + 1][x], gb[y + 1][x + 1]) ? gv_b[y][x]
                                                                                                       : gh_b[y][x];
    /* red and blue at green */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            r_gr[y][x] = MEAN(r[y + 2][x + 1], r[y + 2][x + 2]) + gr[y + 2][x + 2]
                         - MEAN(g_r[y + 1][x], g_r[y + 1][x + 1]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            b_gr[y][x] = MEAN(b[y + 1][x + 2], b[y + 2][x + 2]) + gr[y + 2][x + 2]
                         - MEAN(g_b[y][x + 1], g_b[y + 1][x + 1]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            r_gb[y][x] = MEAN(r[y + 2][x + 2], r[y + 3][x + 2]) + gb[y + 2][x + 2]
                         - MEAN(g_r[y + 1][x + 1], g_r[y + 2][x + 1]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            b_gb[y][x] = MEAN(b[y + 2][x + 2], b[y + 2][x + 3]) + gb[y + 2][x + 2]
                         - MEAN(g_b[y + 1][x + 1], g_b[y + 1][x + 2]);
    /* red at blue and blue at red, along the smaller step of the two diagonals */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            rp_b[y][x] = MEAN(r[y + 2][x + 2], r[y + 3][x + 1]) + g_b[y + 1][x + 1]
                         - MEAN(g_r[y + 1][x + 1], g_r[y + 2][x]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            rn_b[y][x] = MEAN(r[y + 2][x + 1], r[y + 3][x + 2]) + g_b[y + 1][x + 1]
                         - MEAN(g_r[y + 1][x], g_r[y + 2][x + 1]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            r_b[y][x] = NEAR(r[y + 2][x + 2], r[y + 3][x + 1]) < NEAR(r[y + 2][x + 1], r[y + 3][x + 2]) ? rp_b[y][x]
                                                                                                       : rn_b[y][x];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            bp_r[y][x] = MEAN(b[y + 1][x + 3], b[y + 2][x + 2]) + g_r[y + 1][x + 1]
                         - MEAN(g_b[y][x + 2], g_b[y + 1][x + 1]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            bn_r[y][x] = MEAN(b[y + 1][x + 2], b[y + 2][x + 3]) + g_r[y + 1][x + 1]
                         - MEAN(g_b[y][x + 1], g_b[y + 1][x + 2]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            b_r[y][x] = NEAR(b[y + 1][x + 3], b[y + 2][x + 2]) < NEAR(b[y + 1][x + 2], b[y + 2][x + 3]) ? bp_r[y][x]
                                                                                                       : bn_r[y][x];
    /* the pattern put together again, in each colour */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            red[2 * y][2 * x] = r_gr[y][x];
            red[2 * y][2 * x + 1] = r[y + 2][x + 2];
            red[2 * y + 1][2 * x] = r_b[y][x];
            red[2 * y + 1][2 * x + 1] = r_gb[y][x];
        }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            green[2 * y][2 * x] = gr[y + 2][x + 2];
            green[2 * y][2 * x + 1] = g_r[y + 1][x + 1];
            green[2 * y + 1][2 * x] = g_b[y + 1][x + 1];
            green[2 * y + 1][2 * x + 1] = gb[y + 2][x + 2];
        }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            blue[2 * y][2 * x] = b_gr[y][x];
            blue[2 * y][2 * x + 1] = b_r[y][x];
            blue[2 * y + 1][2 * x] = b[y + 2][x + 2];
            blue[2 * y + 1][2 * x + 1] = b_gb[y][x];
        }
    /* the matrix for the light's colour, in 1/256, and what it makes of the colours */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            matrix[i][j] = (warm[i][j] * (1.0f / TEMPERATURE - 1.0f / 7000.0f)
                            + cold[i][j] * (1.0f / 3200.0f - 1.0f / TEMPERATURE))
                           / (1.0f / 3200.0f - 1.0f / 7000.0f) * 256.0f;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            red2[y][x] = (matrix[0][3] + matrix[0][0] * red[y][x] + matrix[0][1] * green[y][x]
                          + matrix[0][2] * blue[y][x]) / 256;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            green2[y][x] = (matrix[1][3] + matrix[1][0] * red[y][x] + matrix[1][1] * green[y][x]
                            + matrix[1][2] * blue[y][x]) / 256;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            blue2[y][x] = (matrix[2][3] + matrix[2][0] * red[y][x] + matrix[2][1] * green[y][x]
                           + matrix[2][2] * blue[y][x]) / 256;
    /* contrast and gamma */
    for (int i = 0; i < WHITE + 1; i++) {
        float x = MIN(MAX((float)(i - BLACK) / (WHITE - BLACK), 0.0f), 1.0f);
        float g = powf(x, 1.0f / GAMMA);
        float s = 2.0f - powf(2.0f, CONTRAST / 100.0f);
        float z = g > 0.5f ? 1.0f - (s * (1.0f - g) * (1.0f - g) + (1.0f - s) * (1.0f - g))
                           : s * g * g + (1.0f - s) * g;
        curve[i] = (unsigned char)(MIN(MAX(z, 0.0f), 1.0f) * 255.0f + 0.5f);
    }
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            out[0][y][x] = curve[MIN(MAX(red2[y][x], 0), WHITE)];
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            out[1][y][x] = curve[MIN(MAX(green2[y][x], 0), WHITE)];
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            out[2][y][x] = curve[MIN(MAX(blue2[y][x], 0), WHITE)];
#pragma endscop
    void *all[] = {clean, gr, r, b, gb, gv_r, gh_r, g_r, gv_b, gh_b, g_b, r_gr, b_gr, r_gb, b_gb, rp_b, rn_b, r_b, bp_r,
                   bn_r, b_r, red, green, blue, matrix, red2, green2, blue2, curve};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#define RUN camera
#include "camera.h"
