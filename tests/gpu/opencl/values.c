/* values FILE.cl: the kernels of the file against loops in C, bit for bit. Prints the names of those that differ. */

#include "polyc_cl.h"

#include <math.h>

enum { N = 100, CELLS = 1000, STEPS = 20, NUMBERS = 5000 };

static unsigned long state = 1;

static double number(void) /* in [1, 2) */
{
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return 1.0 + (double)(state >> 11) / 9007199254740992.0;
}

static void report(const char *name, const void *found, const void *expected, size_t bytes)
{
  printf("%s: %s\n", name, memcmp(found, expected, bytes) == 0 ? "same" : "DIFFERS");
}

static void product(const char *source)
{
  static double A[N][N], B[N][N], C[N][N], expected[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = number();
      B[i][j] = number();
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        expected[i][j] += A[i][k] * B[k][j];
  int n = N;
  size_t groups[] = { (N + 15) / 16, (N + 15) / 16 }, local[] = { 16, 16 };
  cl_kernel kernel = polyc_cl_kernel(source, "product");
  cl_mem a = polyc_cl_buffer(sizeof A, A), b = polyc_cl_buffer(sizeof B, B), c = polyc_cl_buffer(sizeof C, NULL);
  polyc_cl_arg(kernel, 0, sizeof n, &n);
  polyc_cl_arg(kernel, 1, sizeof a, &a);
  polyc_cl_arg(kernel, 2, sizeof b, &b);
  polyc_cl_arg(kernel, 3, sizeof c, &c);
  polyc_cl_launch(kernel, 2, groups, local);
  polyc_cl_read(c, C, sizeof C);
  polyc_cl_free(a);
  polyc_cl_free(b);
  polyc_cl_free(c);
  report("product", C, expected, sizeof C);
}

static void steps(const char *source)
{
  static float cells[2][CELLS], found[CELLS];
  for (int i = 0; i < CELLS; i++)
    cells[0][i] = (float)number();
  int n = CELLS;
  size_t groups[] = { (CELLS + 63) / 64 }, none[] = { 0 }, local[] = { 64 };
  cl_mem buffers[] = { polyc_cl_buffer(sizeof cells[0], cells[0]), polyc_cl_buffer(sizeof cells[0], NULL) };
  for (int t = 0; t < STEPS; t++) {
    cl_kernel kernel = polyc_cl_kernel(source, "stencil");
    polyc_cl_arg(kernel, 0, sizeof n, &n);
    polyc_cl_arg(kernel, 1, sizeof buffers[0], &buffers[t % 2]);
    polyc_cl_arg(kernel, 2, sizeof buffers[0], &buffers[1 - t % 2]);
    polyc_cl_launch(kernel, 1, groups, local);
    polyc_cl_launch(kernel, 1, none, local);
    const float *old = cells[t % 2];
    float *new = cells[1 - t % 2];
    for (int i = 0; i < CELLS; i++)
      new[i] = i == 0 || i == CELLS - 1 ? old[i] : (old[i - 1] + old[i] * 1.25f + old[i + 1]) / 3.1f;
  }
  polyc_cl_finish();
  polyc_cl_read(buffers[STEPS % 2], found, sizeof found);
  polyc_cl_free(buffers[0]);
  polyc_cl_free(buffers[1]);
  report("steps", found, cells[STEPS % 2], sizeof found);
}

static void rounding(const char *source)
{
  static double a[NUMBERS], b[NUMBERS], c[NUMBERS], fused[2][NUMBERS];
  static float quotient[2][NUMBERS], root[2][NUMBERS], tiny[2][NUMBERS];
  for (int i = 0; i < NUMBERS; i++) {
    a[i] = number();
    b[i] = number();
    c[i] = -(a[i] * b[i]);
    fused[1][i] = a[i] * b[i] + c[i];
    quotient[1][i] = (float)a[i] / (float)b[i];
    root[1][i] = sqrtf((float)a[i]);
    tiny[1][i] = (float)a[i] * 1e-39f;
  }
  int n = NUMBERS;
  size_t groups[] = { (NUMBERS + 127) / 128 }, local[] = { 128 };
  cl_kernel kernel = polyc_cl_kernel(source, "rounding");
  cl_mem memory[] = {
    polyc_cl_buffer(sizeof a, a),
    polyc_cl_buffer(sizeof b, b),
    polyc_cl_buffer(sizeof c, c),
    polyc_cl_buffer(sizeof fused[0], NULL),
    polyc_cl_buffer(sizeof quotient[0], NULL),
    polyc_cl_buffer(sizeof root[0], NULL),
    polyc_cl_buffer(sizeof tiny[0], NULL),
  };
  polyc_cl_arg(kernel, 0, sizeof n, &n);
  for (unsigned k = 0; k < 7; k++)
    polyc_cl_arg(kernel, k + 1, sizeof memory[k], &memory[k]);
  polyc_cl_launch(kernel, 1, groups, local);
  polyc_cl_read(memory[3], fused[0], sizeof fused[0]);
  polyc_cl_read(memory[4], quotient[0], sizeof quotient[0]);
  polyc_cl_read(memory[5], root[0], sizeof root[0]);
  polyc_cl_read(memory[6], tiny[0], sizeof tiny[0]);
  for (unsigned k = 0; k < 7; k++)
    polyc_cl_free(memory[k]);
  report("a * b + c", fused[0], fused[1], sizeof fused[0]);
  report("float quotients", quotient[0], quotient[1], sizeof quotient[0]);
  report("float roots", root[0], root[1], sizeof root[0]);
  report("denormal floats", tiny[0], tiny[1], sizeof tiny[0]);
}

int main(int argc, char **argv)
{
  static char source[10000];
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file || fread(source, 1, sizeof source - 1, file) == 0)
    return 2;
  fclose(file);
  product(source);
  steps(source);
  rounding(source);
  return 0;
}
