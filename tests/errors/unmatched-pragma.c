void f(int n, double *a) {
#pragma endscop
  a[0] = 0;
#pragma scop
  a[n] = 0;
}
