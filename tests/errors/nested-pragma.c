void f(int n, double *a) {
#pragma scop
  a[0] = 0;
#pragma scop
  a[n] = 0;
#pragma endscop
}
