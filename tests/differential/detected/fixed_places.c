/* Sizes, arrays and pointers that lie in memory: elements, members of structs, and what pointers in them lead to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct atoms { double *f; int n; };
struct box { double x[1000], y[1000], *data, **rows; struct atoms *atoms, own, many[4]; int n, dims[3]; double tail[]; };
typedef struct { int m, n; float *in, *out; } layer;

static int g[3] = {40, 50, 60};
static double u[64][64][64], r[64][64][64];
static double memory[40000];
static int whole[9000];
static float narrow[9000];

void stencil(void);
void stencil(void)
{
  for (int i = 1; i < g[0] - 1; i++)
    for (int j = 1; j < g[1] - 1; j++)
      for (int k = 1; k < g[2] - 1; k++)
        r[i][j][k] = u[i][j][k - 1] + u[i][j][k + 1] + u[i - 1][j][k];
}

void doubled(layer l);
void doubled(layer l)
{
  for (int i = 0; i < l.n; i++)
    for (int j = 0; j < l.m; j++)
      l.out[i * l.m + j] = l.in[i * l.m + j] * 2;
}

void counted(const int *n, int *a);
void counted(const int *n, int *a)
{
  for (int t = 0; t < n[1]; t++)
    for (int i = 0; i < *n; i++)
      a[i] = (a[i] + i + t) % 900 + 5;
}

void members(struct box *s, struct box *t);
void members(struct box *s, struct box *t)
{
  for (int i = 1; i < s->n - 1; i++)
    s->x[i] = t->x[i - 1] + t->y[i] + s->y[i + 1];
}

void pointers(int rows, struct box *s, double *y);
void pointers(int rows, struct box *s, double *y)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < s->atoms->n; j++)
      y[i * s->atoms->n + j] = s->atoms->f[j] + s->data[i] * (*s).many[2].f[j];
}

void updates(int k, struct box *s);
void updates(int k, struct box *s)
{
  for (int i = 0; i < s->dims[k]; i++) {
    s->rows[k][i] += s->tail[i];
    s->many[1].f[i] = s->many[k].f[i] + s->own.n;
  }
}

void beside(struct box *s, const double *z);
void beside(struct box *s, const double *z)
{
  for (int i = 0; i < s->n; i++) {
    s->own.n = i;
    s->x[i] = z[i] + 1;
  }
}

static void fill(void)
{
  for (int i = 0; i < 40000; i++)
    memory[i] = i * 37 % 101;
  for (int i = 0; i < 9000; i++)
    whole[i] = i % 7 + 9;
  for (int i = 0; i < 9000; i++)
    narrow[i] = (float)(i * 31 % 97);
}

static void told(const char *what)
{
  double sum = 0;
  for (int i = 0; i < 40000; i++)
    sum += memory[i] * (i % 13 + 1);
  for (int i = 0; i < 9000; i++)
    sum += whole[i] * (i % 11);
  for (int i = 0; i < 9000; i++)
    sum += narrow[i] * (i % 17);
  printf("%s %.17g\n", what, sum);
}

int main(void)
{
  static const int shifts[] = {0, 1, -1, 7, 30, -30, 2000};
  struct box *s = malloc(sizeof *s + 1000 * sizeof(double)), *t = malloc(sizeof *t);
  double *rows[2] = {memory + 9000, memory + 9500};
  for (int i = 0; i < 64 * 64 * 64; i++)
    (&u[0][0][0])[i] = i % 103;
  stencil();
  double sum = 0;
  for (int i = 0; i < 64 * 64 * 64; i++)
    sum += (&r[0][0][0])[i] * (i % 7);
  printf("stencil %.17g\n", sum);
  for (int k = 0; k < 7; k++) {
    const int shift = shifts[k];
    fill();
    doubled((layer){90, 20, narrow + 3000, narrow + 3000 + shift});
    told("doubled");
    int n[2] = {1000, 3};
    counted(n, whole + 100);
    counted(whole + 100, whole + 100 + shift); /* the sizes are written on the way */
    told("counted");
    memset(s, 0, sizeof *s + 1000 * sizeof(double)), memset(t, 0, sizeof *t);
    for (int i = 0; i < 1000; i++)
      s->x[i] = i % 19, s->y[i] = i % 23, t->x[i] = i % 29, t->y[i] = i % 31, s->tail[i] = i % 5;
    struct atoms a = {memory + 5000, 30};
    s->n = t->n = 1000, s->atoms = &a, s->data = memory + 100, s->rows = rows;
    s->dims[0] = 400, s->dims[1] = 500, s->own.n = 3;
    for (int i = 0; i < 4; i++)
      s->many[i].f = memory + 20000 + (i ? 500 * i + shift * (i == 1) : 0);
    members(s, t);
    members(s, s);
    pointers(20, s, memory + 5000 + shift);
    pointers(0, NULL, NULL);
    pointers(5, s, s->x + 10);
    told("pointers");
    updates(0, s), updates(1, s);
    s->rows[1] = s->tail + 3;
    updates(1, s);
    beside(s, memory + 300);
    beside(s, s->y);
    beside(s, s->x + 1);
    for (int i = 0; i < 1000; i++)
      memory[i] += s->x[i] + s->y[i] + s->tail[i] * 2;
    told("updates");
    printf("%d\n", s->own.n);
  }
  free(s), free(t);
  return 0;
}
