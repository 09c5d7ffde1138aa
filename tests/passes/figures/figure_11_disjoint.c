/* Figure 11(b), relation (21): two outputs read different halves of what op0 makes; each half goes to its reader. */
void halves(int N, float In[2 * N + 2], float X[N], float Y[N])
{
    float A[2 * N + 2];
#pragma scop
    for (int i = 0; i < 2 * N + 2; i++)
        A[i] = In[i] * 3.0f;
    for (int i = 0; i < N; i++)
        X[i] = A[i] + A[i + 1];
    for (int i = 0; i < N; i++)
        Y[i] = A[N + 1 + i] * A[N + 1 + i];
#pragma endscop
}
