void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = ({ int y = i; y + 1; });
    double t[2] = {[1] = b[i]};
    a[i] += t[1];
  }
#pragma endscop
}
