struct s { double *data; };
void f(int n, double *a, struct s *s) {
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = s[i].data[0];
  }
#pragma endscop
}
