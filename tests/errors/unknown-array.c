void f(int n, double *a, double *b) {
  #pragma polyc live-out(a, c)
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = b[i];
  }
#pragma endscop
}
