void f(int n, const int *at, double *a) {
  double *p = a + at[0];
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i] = a[n - i];
  }
#pragma endscop
}
