void f(int n, double *a, double *b, double (*g)(double)) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = g(b[i]) + sqrt(b[i]);
  }
#pragma endscop
}
