void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = 0;
    __asm__ volatile("nop");
  }
#pragma endscop
}
