#define BEGIN _Pragma("scop")
void f(int n, double *a) {
  BEGIN
  a[n] = 0;
#pragma endscop
}
