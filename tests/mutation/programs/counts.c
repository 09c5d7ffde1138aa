/* Whole numbers that data choose the cells of, and floats that have an order. */
void counts(int n, unsigned char px[n], int bins[256], float sums[256], float shares[256])
{
#pragma scop
    for (int k = 0; k < 256; k++)
        bins[k] = 0;
    for (int i = 0; i < n; i++)
        bins[px[i]] += i % 3;
    for (int i = 0; i < n; i++)
        sums[px[i]] = sums[px[i]] * 0.5f + i;
    for (int i = 0; i < n; i++)
        shares[px[i]] += 0.3f * i;
#pragma endscop
}
