#include <assert.h>
void f(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) {
    assert(a[i] > 0);
    a[i] = 1 / a[i];
  }
#pragma endscop
}
