void f(int n, double a[n][5][5]) {
#pragma scop
  for (int k = 0; k < n; k++) {
    double *x = &a[k][0][2];
    for (int i = 1; i < 5; i++)
      x[5 * i] -= x[5 * i - 5];
  }
#pragma endscop
}
