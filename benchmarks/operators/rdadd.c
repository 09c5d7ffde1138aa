/* realdiv + add over (1024) */
#ifdef SMALL
#define N 100
#else
#define N 1024
#endif

void rdadd(float x[N], float y[N], float out[N])
{
    float t[N];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        t[i] = x[i] / 0.9f;
    for (int i = 0; i < N; i++)
        out[i] = t[i] + y[i];
#pragma endscop
}
