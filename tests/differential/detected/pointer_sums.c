/* Elements behind sums of pointers and several numbers, each of which moves the pointer by itself. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct plane { int n; float *p; };

void sums(float *a, const float *b, int n, int m);
void sums(float *a, const float *b, int n, int m)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      *(a + i * m + j) = *(b + 1 + i * m + j - 1) * 2 + (b + i * m)[j];
}

void members(struct plane *a, const float *b, int n, int large);
void members(struct plane *a, const float *b, int n, int large)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      *(a->p + i * a->n + j) = *(b + n + large - i + j - large) * 2;
}

void rows(float **a, const float *b, unsigned n, unsigned o);
void rows(float **a, const float *b, unsigned n, unsigned o)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++)
      *(*(a + i + 1) + j + o) = *(b + 99 - i - o) * 3 + *(b + o + j);
}

void planes(float (*a)[40], const float (*b)[40], size_t n);
void planes(float (*a)[40], const float (*b)[40], size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 2; j < 38; j++)
      *(*(a + 1 + i - 1) + j) = (b + i)[1][j - 2] + *(*(b + i) + j + 2) + *(b[i + 1] + j - 1);
}

int main(void)
{
  float *p = malloc(20000 * sizeof *p), *r[60];
  double s = 0;
  for (int i = 0; i < 20000; i++)
    p[i] = (float)(i * 37 % 101) / 8;
  sums(p, p + 4000, 40, 60);
  sums(p + 100, p + 90, 20, 7);
  members(&(struct plane){50, p + 6000}, p + 200, 45, INT_MAX - 90);
  for (int i = 0; i < 60; i++)
    r[i] = p + 9000 + 80 * i;
  rows(r, p, 40, 7);
  r[9] = p + 3;
  rows(r, p, 30, 9);
  planes((float (*)[40])(p + 14000), (const float (*)[40])(p + 100), 50);
  planes((float (*)[40])(p + 300), (const float (*)[40])(p + 100), 50);
  for (int i = 0; i < 20000; i++)
    s += p[i] * (1 + i % 7);
  printf("%.12g %.9g %.9g %.9g %.9g\n", s, p[130], p[6210], p[9800], p[14100]);
  free(p);
  return 0;
}
