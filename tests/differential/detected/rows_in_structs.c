/* Pointers to rows that are members of structs: rows that lie apart, that overlap, and that lead back into the struct. */
#include <stdio.h>
#include <stdlib.h>

typedef struct { int n, m; double **u, **f, h; } level;
struct cube { int n, m, k; float ***v; const float *scale; };

void smooth(level *l, double w);
void smooth(level *l, double w)
{
  for (int i = 1; i < l->n - 1; i++)
    for (int j = 1; j < l->m - 1; j++)
      l->u[i][j] = l->u[i][j] + w * l->f[i][j];
}

void residual(const level *l, double **r);
void residual(const level *l, double **r)
{
  for (int i = 1; i < l->n - 1; i++)
    for (int j = 1; j < l->m - 1; j++)
      r[i][j] = l->f[i][j]
        - (4 * l->u[i][j] - l->u[i - 1][j] - l->u[i + 1][j] - l->u[i][j - 1] - l->u[i][j + 1]) * l->h;
}

void scaled(struct cube c);
void scaled(struct cube c)
{
  for (int i = 0; i < c.n; i++)
    for (int j = 0; j < c.m; j++)
      for (int k = 0; k < c.k; k++)
        c.v[i][j][k] = c.v[i][j][k] * c.scale[k] + 1;
}

enum { ROWS = 40, COLUMNS = 60 };
static double memory[4 * ROWS * COLUMNS];
static float small[ROWS * COLUMNS * 8];

static double **rows(double *from, int apart)
{
  double **found = malloc(ROWS * sizeof *found);
  for (int i = 0; i < ROWS; i++)
    found[i] = from + i * apart;
  return found;
}

static void fill(void)
{
  for (int i = 0; i < 4 * ROWS * COLUMNS; i++)
    memory[i] = i * 37 % 101;
  for (int i = 0; i < ROWS * COLUMNS * 8; i++)
    small[i] = (float)(i * 31 % 97);
}

static void told(const char *what)
{
  double sum = 0;
  for (int i = 0; i < 4 * ROWS * COLUMNS; i++)
    sum += memory[i] * (i % 13 + 1);
  for (int i = 0; i < ROWS * COLUMNS * 8; i++)
    sum += small[i] * (float)(i % 11);
  printf("%s %.17g\n", what, sum);
}

int main(void)
{
  static const int apart[] = {COLUMNS, COLUMNS + 3, COLUMNS - 2, 1, 0};
  for (int k = 0; k < 5; k++)
    for (int shift = 0; shift < 3; shift++) {
      level l = {ROWS, COLUMNS, rows(memory, apart[k]), rows(memory + 2400 * (shift < 2) + shift, COLUMNS), 0.25};
      double **r = rows(memory + 4800 - 30 * (shift == 2), COLUMNS);
      fill();
      smooth(&l, 0.5);
      told("smooth");
      residual(&l, r);
      told("residual");
      residual(&l, l.u);
      told("in place");
      r[5] = r[6];
      residual(&l, r);
      told("one row twice");
      l.n = 2;
      smooth(&l, 0.5);
      l.n = 0;
      smooth(&l, 0.5);
      float **planes[8], *lines[8][10];
      for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 10; j++)
          lines[i][j] = small + (i * 10 + j) * (60 - 7 * k);
        planes[i] = lines[i];
      }
      scaled((struct cube){8, 10, 60, planes, small + 17000 - 8500 * shift});
      told("scaled");
    }
  return 0;
}
