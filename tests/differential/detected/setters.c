/* Vectors and matrices in structs, which only small functions of pointers to them read and write. */
#include <stdio.h>
#include <stdlib.h>

typedef struct { size_t size, stride; double *data; } vec;
typedef struct { int n, m; double *data; } mat;

static inline void set(vec *v, size_t i, double x) { v->data[i * v->stride] = x; }
static inline double get(const vec *v, size_t i) { return v->data[i * v->stride]; }
static inline void put(mat *a, int i, int j, double x) { if (i < a->n && j < a->m) a->data[i * a->m + j] = x; }
static inline double at(const mat *a, int i, int j) { return a->data[i * a->m + j]; }
static inline void next(vec *v, double x) { v++; v->data[0] = x; }
static inline void turn(vec *v, vec **w, double x) { *w = v + 1; v->data[1] += x; }

void scale(vec *x, const vec *y, double by);
void scale(vec *x, const vec *y, double by)
{
  for (size_t i = 0; i < y->size; i++)
    set(x, i, get(y, i) * by + 1);
}

void product(mat *c, const mat *a, const mat *b);
void product(mat *c, const mat *a, const mat *b)
{
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->m; j++) {
      double s = 0;
      for (int k = 0; k < a->m; k++)
        s += at(a, i, k) * at(b, k, j);
      put(c, i, j, s);
    }
}

void moved(vec *x, const double *y);
void moved(vec *x, const double *y)
{
  for (int i = 0; i < 30; i++)
    next(x, y[i]);
  for (int i = 0; i < 30; i++)
    turn(x, &x, i % 3 ? y[i] : 0.5);
}

static double sum(const double *p, int n)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += p[i] * (1 + i % 7);
  return s;
}

int main(void)
{
  double *p = malloc(9000 * sizeof *p);
  for (int i = 0; i < 9000; i++)
    p[i] = (i * 37 % 101) / 8.0;
  vec x = {900, 3, p}, y = {900, 2, p + 3000}, z = {900, 1, p + 1}, all[64];
  scale(&x, &y, 0.5);
  printf("%.9g\n", sum(p, 9000));
  scale(&x, &x, 0.25);
  scale(&z, &x, 0.25);
  scale(&x, &z, 0.25);
  printf("%.9g\n", sum(p, 9000));
  mat a = {20, 30, p}, b = {30, 25, p + 1000}, c = {20, 25, p + 3000}, d = {20, 25, p + 7};
  product(&c, &a, &b);
  printf("%.9g\n", sum(p, 9000));
  for (int i = 0; i < 9000; i++)
    p[i] = (i * 37 % 101) / 8.0;
  product(&d, &a, &b);
  printf("%.9g\n", sum(p, 9000));
  for (int i = 0; i < 64; i++)
    all[i] = (vec){4, 1, p + 4 * i};
  moved(all, p + 100);
  printf("%.9g\n", sum(p, 9000));
  free(p);
  return 0;
}
