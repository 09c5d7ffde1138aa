/* Products that windows sum up, whose factor is overwritten before that: they keep their nests. And three that do not. */
void multiplied(int n, float a[n], float b[n], float out[n], float in_time[n])
{
    float aa[n], ab[n], bb[n], cc[n], cd[n], dd[n], c[n], d[n];
#pragma scop
    for (int i = 0; i < n; i++)
        c[i] = a[i] + 1.0f;
    for (int i = 0; i < n; i++)
        d[i] = b[i] - 1.0f;
    for (int i = 0; i < n; i++)
        cc[i] = c[i] * c[i];
    for (int i = 0; i < n; i++)
        cd[i] = c[i] * d[i];
    for (int i = 0; i < n; i++)
        dd[i] = d[i] * d[i];
    for (int i = 1; i < n - 1; i++)
        in_time[i] = cc[i - 1] + cc[i + 1] + cd[i - 1] - cd[i] + cd[i + 1] + dd[i - 1] - dd[i + 1];
    for (int i = 0; i < n; i++)
        aa[i] = a[i] * a[i];
    for (int i = 0; i < n; i++)
        ab[i] = a[i] * b[i];
    for (int i = 0; i < n; i++)
        bb[i] = b[i] * b[i];
    for (int i = 0; i < n; i++)
        a[i] = 0.5f * i;
    for (int i = 1; i < n - 1; i++)
        out[i] = aa[i - 1] + aa[i + 1] + ab[i - 1] - ab[i] + ab[i + 1] + bb[i - 1] - bb[i + 1];
#pragma endscop
}
