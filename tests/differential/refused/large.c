/* Whether the stores are many enough to go past the caches is asked with the loop's extent, a remainder of n, in a region
   whose first parameter is m. */
void kernel(int n, int m, float B2[n], double B3[m - 6])
{
#pragma scop
    for (long i = 0; i < n; i += 2) {
        B3[i] = B2[(i - 1) > (0) ? (i - 1) : (0)];
    }
#pragma endscop
}
