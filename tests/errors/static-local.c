void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    static int count;
    a[i] = count;
  }
#pragma endscop
}
