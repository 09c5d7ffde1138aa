void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    *a++ = 0;
    b = a + n;
    double *p = b + 1;
  }
#pragma endscop
}
