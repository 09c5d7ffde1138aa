void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    *(&a[i] + 1) = 0;
  }
#pragma endscop
}
