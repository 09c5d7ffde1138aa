void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    switch (i % 3) {
    case 0: a[i] = 1;
    case 1: b[i] = 1;
    }
  }
#pragma endscop
}
