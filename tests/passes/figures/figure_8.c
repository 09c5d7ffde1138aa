/* Figure 8: I3 makes data for I2 and for I1, and both make data for the output: I2 has to be visited before I3. */
void stages(int N, float In[N], float Out[N])
{
    float I1[N], I2[N], I3[N];
#pragma scop
    for (int i = 0; i < N; i++)
        I3[i] = In[i] + 1.0f;
    for (int i = 1; i < N - 1; i++)
        I2[i] = I3[i - 1] + I3[i + 1];
    for (int i = 1; i < N - 1; i++)
        I1[i] = I3[i] * 2.0f;
    for (int i = 2; i < N - 2; i++)
        Out[i] = I1[i - 1] + I1[i + 1] + I2[i - 1] + I2[i + 1];
#pragma endscop
}
