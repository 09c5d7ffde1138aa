void f(int n, double *a, double *b) {
  double *p = a + 1;
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i] = a[n - i];
  }
#pragma endscop
}
