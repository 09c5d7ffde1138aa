#include <stdio.h>
#include <math.h>
#define RELU(x) ((x) > 0 ? (x) : 0)
/* a convolution */
void conv(int H, int W, int KH, int KW, double Ain[H][W], double A[H][W], double B[KH][KW], double C[H - KH + 1][W - KW + 1])
{
  int h, w, kh, kw;
#pragma polyc live-out(C)
#pragma scop
  for (h = 0; h < H; h++)
    for (w = 0; w < W; w++)
      A[h][w] = floor(Ain[h][w] * 16.0);
  for (h = 0; h <= H - KH; h++)
    for (w = 0; w <= W - KW; w++) {
      C[h][w] = 0;
      for (kh = 0; kh < KH; kh++)
        for (kw = 0; kw < KW; kw++)
          C[h][w] += A[h + kh][w + kw] * B[kh][kw];
    }
  for (h = 0; h <= H - KH; h++)
    for (w = 0; w <= W - KW; w++)
      C[h][w] = RELU(C[h][w]);
#pragma endscop
}
