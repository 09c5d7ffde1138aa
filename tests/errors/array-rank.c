void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i][i] = 0;
    n[i] = 0;
  }
#pragma endscop
}
