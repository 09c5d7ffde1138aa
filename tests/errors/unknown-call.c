double g(double);
void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = g(b[i]) + sqrt(b[i]);
    h(i);
  }
#pragma endscop
}
