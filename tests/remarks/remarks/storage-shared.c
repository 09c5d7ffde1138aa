/* polyc compile --tile-sizes 16,64 */
void chain(int n, float in[n], float out[n])
{
    float a[n], b[n], c[n];
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2.0f * in[i] + 1.0f;
    for (int i = 1; i < n - 1; i++)
        b[i] = a[i - 1] + a[i + 1];
    for (int i = 2; i < n - 2; i++)
        c[i] = b[i - 1] + b[i + 1];
    for (int i = 3; i < n - 3; i++)
        out[i] = c[i - 1] + c[i + 1];
#pragma endscop
}
