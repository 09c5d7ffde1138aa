/* The attention pattern: one elementwise operation on the input, its result read by three products, whose results
   are activated. The query, key and value rows of one tile share the input's rows. */
void attention(int T, int D, float In[T][D], float Wq[D][64], float Wk[D][64], float Q[T][64], float K[T][64])
{
    float X[T][D];
#pragma scop
    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++)
            X[t][d] = In[t][d] * 0.125f;
    for (int t = 0; t < T; t++)
        for (int h = 0; h < 64; h++) {
            Q[t][h] = 0;
            for (int d = 0; d < D; d++)
                Q[t][h] += X[t][d] * Wq[d][h];
        }
    for (int t = 0; t < T; t++)
        for (int h = 0; h < 64; h++)
            Q[t][h] = Q[t][h] > 0 ? Q[t][h] : 0;
    for (int t = 0; t < T; t++)
        for (int h = 0; h < 64; h++) {
            K[t][h] = 0;
            for (int d = 0; d < D; d++)
                K[t][h] += X[t][d] * Wk[d][h];
        }
    for (int t = 0; t < T; t++)
        for (int h = 0; h < 64; h++)
            K[t][h] = K[t][h] > 0 ? K[t][h] : 0;
#pragma endscop
}
