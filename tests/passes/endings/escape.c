/* Each point iterates until it is far: the strip does as long as most of its points are near, then one by one. */
void escape(int n, const double *a, const double *b, int *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double zr = 0, zi = 0;
        int k;
        for (k = 0; k < 30; k++) {
            double rr = zr * zr, ii = zi * zi;
            if (rr + ii > 4.0)
                break;
            zi = 2.0 * zr * zi + b[i];
            zr = rr - ii + a[i];
        }
        out[i] = k;
    }
#pragma endscop
}
