double norm(double **, int);
void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = norm(&b, n) + i;
  }
#pragma endscop
}
