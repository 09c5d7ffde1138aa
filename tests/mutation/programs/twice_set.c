/* A variable that gets two values in an iteration, and one that is read before. */
void twice_set(int n, const float a[n], float b[n], float c[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = a[i] * 2;
        b[i] = s + 1;
        s = a[i] * 3;
        float t = s;
        c[i] = s * t;
    }
#pragma endscop
}
