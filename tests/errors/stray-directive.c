void f(int n, double *a) {
#ifdef _OPENMP
#pragma omp parallel for
#endif
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 0;
#pragma endscop
}
