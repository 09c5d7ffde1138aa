/* Camera pipeline, as in ../arrays/camera.c, on flat arrays. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#define ROWS SIZE(16, 64, 256, 1920, 3840) /* even */
#define COLS SIZE(24, 64, 256, 2560, 5120)
#define TEMPERATURE 3700.0f
#define GAMMA 2.0f
#define CONTRAST 50.0f
#define BLACK 25
#define WHITE 1023
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MEAN(a, b) (((a) + (b) + 1) / 2)
#define NEAR(a, b) abs((a) - (b))

#define RAW(y, x) raw[(y) * (cols + 32) + (x)]
#define WARM(y, x) warm[(y) * 4 + (x)]
#define COLD(y, x) cold[(y) * 4 + (x)]
#define OUT(c, y, x) out[((c) * rows + (y)) * cols + (x)]
#define CLEAN(y, x) clean[(y) * (cols + 8) + (x)]
#define GR(y, x) gr[(y) * (W + 4) + (x)]
#define R(y, x) r[(y) * (W + 4) + (x)]
#define B(y, x) b[(y) * (W + 4) + (x)]
#define GB(y, x) gb[(y) * (W + 4) + (x)]
#define GV_R(y, x) gv_r[(y) * (W + 2) + (x)]
#define GH_R(y, x) gh_r[(y) * (W + 2) + (x)]
#define G_R(y, x) g_r[(y) * (W + 2) + (x)]
#define GV_B(y, x) gv_b[(y) * (W + 2) + (x)]
#define GH_B(y, x) gh_b[(y) * (W + 2) + (x)]
#define G_B(y, x) g_b[(y) * (W + 2) + (x)]
#define R_GR(y, x) r_gr[(y) * W + (x)]
#define B_GR(y, x) b_gr[(y) * W + (x)]
#define R_GB(y, x) r_gb[(y) * W + (x)]
#define B_GB(y, x) b_gb[(y) * W + (x)]
#define RP_B(y, x) rp_b[(y) * W + (x)]
#define RN_B(y, x) rn_b[(y) * W + (x)]
#define R_B(y, x) r_b[(y) * W + (x)]
#define BP_R(y, x) bp_r[(y) * W + (x)]
#define BN_R(y, x) bn_r[(y) * W + (x)]
#define B_R(y, x) b_r[(y) * W + (x)]
#define RED(y, x) red[(y) * cols + (x)]
#define GREEN(y, x) green[(y) * cols + (x)]
#define BLUE(y, x) blue[(y) * cols + (x)]
#define MATRIX(y, x) matrix[(y) * 4 + (x)]
#define RED2(y, x) red2[(y) * cols + (x)]
#define GREEN2(y, x) green2[(y) * cols + (x)]
#define BLUE2(y, x) blue2[(y) * cols + (x)]

void camera(int rows, int cols, const void *sensor, const float *warm, const float *cold, void *image)
{
    const unsigned short *raw = (const unsigned short *)sensor;
    unsigned char *out = (unsigned char *)image;
    const int H = rows / 2, W = cols / 2;
    short *clean = (short *)malloc(sizeof(short) * (rows + 8) * (cols + 8));
    short *gr = (short *)malloc(sizeof(short) * (H + 4) * (W + 4));
    short *r = (short *)malloc(sizeof(short) * (H + 4) * (W + 4));
    short *b = (short *)malloc(sizeof(short) * (H + 4) * (W + 4));
    short *gb = (short *)malloc(sizeof(short) * (H + 4) * (W + 4));
    short *gv_r = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *gh_r = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *g_r = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *gv_b = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *gh_b = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *g_b = (short *)malloc(sizeof(short) * (H + 2) * (W + 2));
    short *r_gr = (short *)malloc(sizeof(short) * H * W);
    short *b_gr = (short *)malloc(sizeof(short) * H * W);
    short *r_gb = (short *)malloc(sizeof(short) * H * W);
    short *b_gb = (short *)malloc(sizeof(short) * H * W);
    short *rp_b = (short *)malloc(sizeof(short) * H * W);
    short *rn_b = (short *)malloc(sizeof(short) * H * W);
    short *r_b = (short *)malloc(sizeof(short) * H * W);
    short *bp_r = (short *)malloc(sizeof(short) * H * W);
    short *bn_r = (short *)malloc(sizeof(short) * H * W);
    short *b_r = (short *)malloc(sizeof(short) * H * W);
    short *red = (short *)malloc(sizeof(short) * rows * cols);
    short *green = (short *)malloc(sizeof(short) * rows * cols);
    short *blue = (short *)malloc(sizeof(short) * rows * cols);
    short *matrix = (short *)malloc(sizeof(short) * 3 * 4);
    short *red2 = (short *)malloc(sizeof(short) * rows * cols);
    short *green2 = (short *)malloc(sizeof(short) * rows * cols);
    short *blue2 = (short *)malloc(sizeof(short) * rows * cols);
    unsigned char *curve = (unsigned char *)malloc(WHITE + 1);

#pragma polyc live-out(out)
#pragma scop
    /* hot pixels */
    for (int y = 0; y < rows + 8; y++)
        for (int x = 0; x < cols + 8; x++) {
            int most = MAX(MAX(RAW(y + 20, x + 10), RAW(y + 20, x + 14)),
                           MAX(RAW(y + 18, x + 12), RAW(y + 22, x + 12)));
            int least = MIN(MIN(RAW(y + 20, x + 10), RAW(y + 20, x + 14)),
                            MIN(RAW(y + 18, x + 12), RAW(y + 22, x + 12)));
            CLEAN(y, x) = MIN(MAX(RAW(y + 20, x + 12), least), most);
        }
    /* the places of the pattern */
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            GR(y, x) = CLEAN(2 * y, 2 * x);
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            R(y, x) = CLEAN(2 * y, 2 * x + 1);
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            B(y, x) = CLEAN(2 * y + 1, 2 * x);
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++)
            GB(y, x) = CLEAN(2 * y + 1, 2 * x + 1);
    /* green at red and at blue, along the smaller step */
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            GV_R(y, x) = MEAN(GB(y, x + 1), GB(y + 1, x + 1));
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            GH_R(y, x) = MEAN(GR(y + 1, x + 1), GR(y + 1, x + 2));
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            G_R(y, x) = NEAR(GB(y, x + 1), GB(y + 1, x + 1)) < NEAR(GR(y + 1, x + 1), GR(y + 1, x + 2)) ? GV_R(y, x)
                                                                                                       : GH_R(y, x);
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            GV_B(y, x) = MEAN(GR(y + 1, x + 1), GR(y + 2, x + 1));
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            GH_B(y, x) = MEAN(GB(y + 1, x), GB(y + 1, x + 1));
    for (int y = 0; y < H + 2; y++)
        for (int x = 0; x < W + 2; x++)
            G_B(y, x) = NEAR(GR(y + 1, x + 1), GR(y + 2, x + 1)) < NEAR(GB(y + 1, x), GB(y + 1, x + 1)) ? GV_B(y, x)
                                                                                                       : GH_B(y, x);
    /* red and blue at green */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            R_GR(y, x) = MEAN(R(y + 2, x + 1), R(y + 2, x + 2)) + GR(y + 2, x + 2)
                         - MEAN(G_R(y + 1, x), G_R(y + 1, x + 1));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            B_GR(y, x) = MEAN(B(y + 1, x + 2), B(y + 2, x + 2)) + GR(y + 2, x + 2)
                         - MEAN(G_B(y, x + 1), G_B(y + 1, x + 1));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            R_GB(y, x) = MEAN(R(y + 2, x + 2), R(y + 3, x + 2)) + GB(y + 2, x + 2)
                         - MEAN(G_R(y + 1, x + 1), G_R(y + 2, x + 1));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            B_GB(y, x) = MEAN(B(y + 2, x + 2), B(y + 2, x + 3)) + GB(y + 2, x + 2)
                         - MEAN(G_B(y + 1, x + 1), G_B(y + 1, x + 2));
    /* red at blue and blue at red, along the smaller step of the two diagonals */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            RP_B(y, x) = MEAN(R(y + 2, x + 2), R(y + 3, x + 1)) + G_B(y + 1, x + 1)
                         - MEAN(G_R(y + 1, x + 1), G_R(y + 2, x));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            RN_B(y, x) = MEAN(R(y + 2, x + 1), R(y + 3, x + 2)) + G_B(y + 1, x + 1)
                         - MEAN(G_R(y + 1, x), G_R(y + 2, x + 1));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            R_B(y, x) = NEAR(R(y + 2, x + 2), R(y + 3, x + 1)) < NEAR(R(y + 2, x + 1), R(y + 3, x + 2)) ? RP_B(y, x)
                                                                                                       : RN_B(y, x);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            BP_R(y, x) = MEAN(B(y + 1, x + 3), B(y + 2, x + 2)) + G_R(y + 1, x + 1)
                         - MEAN(G_B(y, x + 2), G_B(y + 1, x + 1));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            BN_R(y, x) = MEAN(B(y + 1, x + 2), B(y + 2, x + 3)) + G_R(y + 1, x + 1)
                         - MEAN(G_B(y, x + 1), G_B(y + 1, x + 2));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            B_R(y, x) = NEAR(B(y + 1, x + 3), B(y + 2, x + 2)) < NEAR(B(y + 1, x + 2), B(y + 2, x + 3)) ? BP_R(y, x)
                                                                                                       : BN_R(y, x);
    /* the pattern put together again, in each colour */
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            RED(2 * y, 2 * x) = R_GR(y, x);
            RED(2 * y, 2 * x + 1) = R(y + 2, x + 2);
            RED(2 * y + 1, 2 * x) = R_B(y, x);
            RED(2 * y + 1, 2 * x + 1) = R_GB(y, x);
        }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            GREEN(2 * y, 2 * x) = GR(y + 2, x + 2);
            GREEN(2 * y, 2 * x + 1) = G_R(y + 1, x + 1);
            GREEN(2 * y + 1, 2 * x) = G_B(y + 1, x + 1);
            GREEN(2 * y + 1, 2 * x + 1) = GB(y + 2, x + 2);
        }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            BLUE(2 * y, 2 * x) = B_GR(y, x);
            BLUE(2 * y, 2 * x + 1) = B_R(y, x);
            BLUE(2 * y + 1, 2 * x) = B(y + 2, x + 2);
            BLUE(2 * y + 1, 2 * x + 1) = B_GB(y, x);
        }
    /* the matrix for the light's colour, in 1/256, and what it makes of the colours */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            MATRIX(i, j) = (WARM(i, j) * (1.0f / TEMPERATURE - 1.0f / 7000.0f)
                            + COLD(i, j) * (1.0f / 3200.0f - 1.0f / TEMPERATURE))
                           / (1.0f / 3200.0f - 1.0f / 7000.0f) * 256.0f;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            RED2(y, x) = (MATRIX(0, 3) + MATRIX(0, 0) * RED(y, x) + MATRIX(0, 1) * GREEN(y, x)
                          + MATRIX(0, 2) * BLUE(y, x)) / 256;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            GREEN2(y, x) = (MATRIX(1, 3) + MATRIX(1, 0) * RED(y, x) + MATRIX(1, 1) * GREEN(y, x)
                            + MATRIX(1, 2) * BLUE(y, x)) / 256;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            BLUE2(y, x) = (MATRIX(2, 3) + MATRIX(2, 0) * RED(y, x) + MATRIX(2, 1) * GREEN(y, x)
                           + MATRIX(2, 2) * BLUE(y, x)) / 256;
    /* contrast and gamma */
    for (int i = 0; i < WHITE + 1; i++) {
        float x = MIN(MAX((float)(i - BLACK) / (WHITE - BLACK), 0.0f), 1.0f);
        float g = powf(x, 1.0f / GAMMA);
        float s = 2.0f - powf(2.0f, CONTRAST / 100.0f);
        float z = g > 0.5f ? 1.0f - (s * (1.0f - g) * (1.0f - g) + (1.0f - s) * (1.0f - g))
                           : s * g * g + (1.0f - s) * g;
        curve[i] = (unsigned char)(MIN(MAX(z, 0.0f), 1.0f) * 255.0f + 0.5f);
    }
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            OUT(0, y, x) = curve[MIN(MAX(RED2(y, x), 0), WHITE)];
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            OUT(1, y, x) = curve[MIN(MAX(GREEN2(y, x), 0), WHITE)];
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            OUT(2, y, x) = curve[MIN(MAX(BLUE2(y, x), 0), WHITE)];
#pragma endscop
    void *all[] = {clean, gr, r, b, gb, gv_r, gh_r, g_r, gv_b, gh_b, g_b, r_gr, b_gr, r_gb, b_gb, rp_b, rn_b, r_b, bp_r,
                   bn_r, b_r, red, green, blue, matrix, red2, green2, blue2, curve};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#define RUN(raw, warm, cold, image) camera(ROWS, COLS, raw, warm[0], cold[0], image)
#include "camera.h"
