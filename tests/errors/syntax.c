void f(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = = 3;
  a[2] = );
#pragma endscop
}
