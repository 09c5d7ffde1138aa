void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (a[i] > 0)
      return;
    a[i] = 1;
  }
#pragma endscop
}
