void f(int n, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int m = n; double t[m];
    t[0] = a[i];
    a[i] = t[0];
    typedef int word;
    enum { K = 3 };
    struct { double x; } p = { b[i] };
    a[i] += p.x * K;
    typeof(a[i]) u = a[i];
    b[i] = u + (__typeof__(u)) n;
  }
#pragma endscop
}
