enum { W = 1024, H = 768 };
static int min2(int a, int b) { return a < b ? a : b; }
void distance(int *d)
{
    /* polyc 0.1.0: distance: 5 statements in 5 groups, checked */
    {
#ifdef _OPENMP
#pragma omp parallel for
#endif
      for (int i = 0; i < 786432; i++)
        d[i] = 60000;
      for (int y = 1; y < 767; y++)
        for (int x = 1; x < 1023; x++) {
          int v = d[1024 * y + x];
          v = min2(v, d[1024 * y + x - 1] + 5);
          v = min2(v, d[1024 * y + x - 1023] + 5);
          d[1024 * y + x] = v;
        }
    }
}
