void f(int n, double *a) {
  for (int t = 0; t < n; t++) {
#pragma scop
    for (int i = 0; i < n; i++) a[i] = 0;
    if (n > 3) break;
    if (n > 4) continue;
#pragma endscop
  }
}
