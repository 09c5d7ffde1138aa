void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (b[i] > 0)
      *a++ = 0;
    b = i > 3 ? b + n : b;
    double *p = a + (int)b[i];
    p[i] = 1;
  }
#pragma endscop
}
