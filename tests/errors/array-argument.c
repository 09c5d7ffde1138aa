double norm(double *, int);
#pragma polyc pure(norm)
void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = norm(b, n) + norm(&a[i], 2);
  }
#pragma endscop
}
