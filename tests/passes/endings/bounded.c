/* The same with the question in the head of the loop, and a bound that the sizes decide. */
void bounded(int n, int most, const double *a, float *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double x = a[i], y = 0;
        int k = 0;
        while (x * x < 100.0 && k < most) {
            y = 0.5 * y + x;
            x = 1.5 * x + 0.25;
            k++;
        }
        out[i] = (float)(y + k);
    }
#pragma endscop
}
