void f(int n, double *a, volatile int *flag) {
#pragma scop
  for (int i = 0; i < n; i++) {
    *flag = 1;
    a[i] = *flag;
  }
#pragma endscop
}
