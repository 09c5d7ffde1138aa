/* realdiv + add over (1024) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define N 100
#else
#define N 1024
#endif

void rdadd(real x[N], real y[N], real out[N])
{
    real t[N];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        t[i] = x[i] / 0.9f;
    for (int i = 0; i < N; i++)
        out[i] = t[i] + y[i];
#pragma endscop
}
