/* 4madd: mul + mul + mul + add over (1024) */
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

void madd4(real x[N], real y[N], real z[N], real out[N])
{
    real t[N], u[N], v[N], w[N];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        t[i] = x[i] * 0.9f;
    for (int i = 0; i < N; i++)
        u[i] = y[i] * 0.1f;
    for (int i = 0; i < N; i++)
        v[i] = u[i] * y[i];
    for (int i = 0; i < N; i++)
        w[i] = t[i] + v[i];
    for (int i = 0; i < N; i++)
        out[i] = w[i] + z[i];
#pragma endscop
}
