void f(int n, double *a, double *b, double A[n][n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (a > b) b[i] = 1;
    b[i] = *A[i];
  }
#pragma endscop
}
